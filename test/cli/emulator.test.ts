import { join } from "node:path";
import { verify } from "../../src/signature";
import { receiver } from "../emulator/receiver";
import { makeFolder, run, start } from "./running";

/** Starts the emulator, and returns how to use it. */
async function emulating(...args: string[]) {
  const running = start(["emulator", "--port", "0", ...args], { showsSecrets: true });
  const [, url = ""] = await running.until(/Open (http:\/\/\S+) in a browser/);
  const [, apiKey = ""] = await running.until(/webhooks:apiKey (\S+)/);
  const [, secret = ""] = await running.until(/signingSecret (whsec_\S+)/);
  const register = (target: string) =>
    fetch(`${url}/webhooks`, {
      method: "POST",
      headers: { "x-api-key": apiKey, "content-type": "application/json" },
      body: JSON.stringify({ url: target, type: "development" }),
    });
  return { running, url, secret, register };
}

test("it says how to use it; Enter runs a job, and each attempt is a line", async () => {
  const { running, secret, register } = await emulating();
  running.type("");
  await running.until(/There is nothing to deliver to/);
  const target = await receiver();
  expect((await register(target.url)).status).toBe(201);
  running.type("");
  await running.until(/job\.succeeded to wh_\S+ \(http:\S+\): 204/);
  const { status } = await running.stop();
  expect(status).toBe(0);
  const [delivery] = target.received;
  expect(verify(delivery?.body ?? "", delivery?.headers ?? {}, secret)).toBe(true);
});

test("rotate adds a signing secret, finish drops the old ones, and anything else lists the commands", async () => {
  const { running, secret } = await emulating();
  running.type("rotate");
  const [, newer] = await running.until(/now also signs with (whsec_\S+)/);
  running.type(" finish ");
  const [, left] = await running.until(/signs only with (.+)/);
  expect([newer === secret, left]).toEqual([false, newer]);
  running.type("rotat");
  await running.until(/The commands are:\n {2}Enter {3}run a job/);
  running.type("help");
  await running.stop();
});

test("a data file keeps endpoints, the key and the secret across restarts", async () => {
  const file = join(makeFolder({}), "emulator.json");
  const first = await emulating("--data-file", file, "--api-key", "my-key");
  await first.register("http://127.0.0.1:1/jobs");
  await first.running.stop();
  const second = await emulating("--data-file", file);
  expect(second.secret).toBe(first.secret);
  const list = await fetch(`${second.url}/webhooks`, { headers: { "x-api-key": "my-key" } });
  expect(JSON.stringify(await list.json())).toContain("http://127.0.0.1:1/jobs");
  await second.running.stop();
});

test("an empty secret, as an unset variable leaves it, is an error", async () => {
  const { status, stderr } = await run(["emulator", "--port", "0", "--secret", ""]);
  expect([status, stderr]).toEqual([1, expect.stringMatching(/it is empty.*\(SECRET_INVALID\)/)]);
});
