import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

const command = join(__dirname, "../../dist/cli/main.js");

let child: ChildProcess;
let printed: string;

function start(...args: string[]): void {
  printed = "";
  child = spawn(process.execPath, [command, "emulator", ...args], { stdio: "pipe" });
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (text) => {
      printed += text;
    });
}
afterEach(() => child.kill("SIGKILL"));

async function until(pattern: RegExp): Promise<RegExpExecArray> {
  for (;;) {
    const found = pattern.exec(printed);
    if (found) return found;
    if (child.exitCode !== null) throw new Error(`it ended: ${printed}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

it("says how to use it, runs a job for each line, rotates, and ends when it is told to", async () => {
  start("--port", "0");
  const [, url] = await until(/config set webhooks:baseUrl (\S+)\n/);
  const [, apiKey = ""] = await until(/webhooks:apiKey (\S+)\n/);
  await until(/signingSecret whsec_\S+\n/);
  child.stdin?.write("\n");
  await until(/^No endpoint is registered\.$/m);

  child.stdin?.write("rotate\n");
  const [, added] = await until(/^It signs with (whsec_\S+) too\.$/m);
  child.stdin?.write("finish\n");
  const [, only] = await until(/^It signs with (whsec_\S+)\.$/m);
  expect(only).toBe(added);

  let status = 200;
  const receiver: Server = createServer((request, response) =>
    request.resume().on("end", () => response.writeHead(status).end()),
  );
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const at = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  try {
    const answer = await fetch(`${url}/webhooks`, {
      method: "POST",
      headers: { "X-Api-Key": apiKey, "Content-Type": "application/json" },
      body: JSON.stringify({ url: at, type: "development" }),
    });
    const { id } = (await answer.json()) as { id: string };
    child.stdin?.write("\n");
    await until(
      new RegExp(`^job.running to ${id} \\(${at}\\): 200\njob.succeeded to ${id} \\(${at}\\): 200$`, "m"),
    );
    status = 401;
    child.stdin?.write("\n");
    await until(new RegExp(`^job.running to ${id} \\(${at}\\): 401, again in 1 s$`, "m"));
  } finally {
    receiver.closeAllConnections();
    receiver.close();
  }
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([0, null]);
});

it.each([
  [["--port", "many"], /--port.*whole number/],
  [["--port", "70000"], /port/],
  [["--data-file", "/nowhere/endpoints.json", "--latency"], /argument missing/],
])("refuses %j with a word of why, and ends with 1", async (args, why) => {
  start(...args);
  const [status] = await once(child, "exit");
  expect(status).toBe(1);
  expect(printed).toMatch(why);
  expect(printed).not.toMatch(/\n\s+at /);
});
