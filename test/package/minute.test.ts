import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { makeFolder, removeFolders } from "../receiver/readme/app";
import { snippetsOf } from "../receiver/readme/snippets";
import { commandsOf, read, root } from "./pages";

const [, section = ""] = read("README.md").split("\n## A verified delivery in a minute\n");
const [minute = ""] = section.split("\n## ");
const children: ChildProcess[] = [];

afterEach(async () => {
  for (const { pid = 0, exitCode } of children) if (exitCode === null) process.kill(-pid, "SIGTERM");
  await Promise.all(children.map((child) => child.exitCode ?? once(child, "exit")));
  removeFolders();
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

test("the README's first section, followed to the letter, ends with a delivery in the receiver of its reader", async () => {
  const cwd = makeFolder({ files: {}, packages: {} });
  const bin = join(cwd, "node_modules/.bin");
  mkdirSync(bin);
  const main = join(root, "dist/cli/main.js");
  writeFileSync(join(bin, "webhook-endpoints"), `#!/bin/sh\nexec node '${main}' "$@"\n`, { mode: 0o755 });
  // Other tests may run on the ports of the README at the same time.
  const ports = new Map([
    ["3000", await freePort()],
    ["8080", await freePort()],
  ]);
  const here = (text: string) =>
    text
      .replace(/\b(3000|8080)\b/g, (port) => String(ports.get(port)))
      .replace(/ emulator (?=--)/, " emulator --port 0 ");
  const [receiver] = snippetsOf(minute);
  writeFileSync(join(cwd, "receiver.mjs"), here(receiver?.code ?? ""));

  // What the first command does is done: the folder has the package.
  const [install, ...commands] = commandsOf(minute);
  expect([install, commands.length]).toEqual(["npm install pulumi-webhook-endpoints", 4]);
  const printed = commands.map(() => "");
  const run = (index: number) => {
    const child = spawn("bash", ["-c", here(commands[index] ?? "")], { cwd, detached: true, stdio: "pipe" });
    children.push(child);
    child.stdout.on("data", (chunk) => {
      printed[index] += chunk;
    });
    // npx may warn of a setting of npm there.
    child.stderr.resume();
    return child;
  };
  const until = async (index: number, pattern: RegExp) => {
    while (!pattern.test(printed[index] ?? "")) {
      if (children[index]?.exitCode != null) throw new Error(`${commands[index]} ended: ${printed[index]}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  run(0);
  await until(0, /The emulated webhook service is running/);
  run(1);
  for (let answer: unknown; answer === undefined; ) {
    await until(1, /^/);
    answer = await fetch(`http://127.0.0.1:${ports.get("3000")}/`).catch(() => undefined);
  }
  run(2);
  await until(2, /^http:\/\/127\.0\.0\.1:\d+\n/);
  const [status] = await once(run(3), "exit");

  expect([status, printed[3]]).toEqual([
    0,
    expect.stringMatching(/^job\.succeeded msg_\w+: 200, after \d+ ms\n$/),
  ]);
  await until(2, /job\.succeeded {2}job_\w+ {2}msg_\w+ {2}verified, forwarded: 200/);
  await until(1, /^job_\w+ is done\n/m);
});
