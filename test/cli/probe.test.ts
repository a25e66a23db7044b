import { createServer } from "node:http";
import { createReceiver } from "../../src/receiver";
import { nodeHandler } from "../../src/receiver/adapters/node";
import { receiver } from "../emulator/receiver";
import { type Served, serve } from "../stack/support";
import { cleanUp, OTHER_SECRET, run, SECRET, stackFolder } from "./commandLine";

const served: Served[] = [];
afterEach(async () => {
  await cleanUp();
  for (const server of served.splice(0)) await server.close();
});

async function receiverWith(...secrets: string[]): Promise<string> {
  const server = await serve(createReceiver({ secrets, handlers: {}, onRejected: () => {} }));
  served.push(server);
  return server.url;
}

const probe = (url: string, args: readonly string[] = [], secrets: readonly string[] = [SECRET]) =>
  run(["probe", url, "--secret-env", "THE_SECRET", ...args], { env: { THE_SECRET: secrets.join("\n") } });

test("probe exits with 0 when the receiver accepts genuine deliveries and refuses broken ones", async () => {
  const url = await receiverWith(SECRET, OTHER_SECRET);
  const { status, stdout, stderr } = await probe(url, ["--json"], [SECRET, OTHER_SECRET]);
  expect([status, stderr]).toEqual([0, ""]);
  expect(JSON.parse(stdout)).toEqual({
    validated: true,
    code: null,
    genuine: { status: 200 },
    broken: { status: 401 },
  });
  const plain = await probe(url, [], [SECRET, OTHER_SECRET]);
  expect(plain.stderr).toMatch(
    /^Tried 2 secrets: secret 1 of 2 \(fingerprint \w{12}\), secret 2 of 2 \(fingerprint \w{12}\)\.\n$/,
  );
  expect(plain).toMatchObject({
    status: 0,
    stdout: "Validated. A genuine delivery was answered with 200, a broken one with 401.\n",
  });
});

test("probe tries each secret, and names the one that the receiver lacks", async () => {
  const { status, stdout } = await probe(await receiverWith(SECRET), [], [SECRET, OTHER_SECRET]);
  expect(status).toBe(1);
  expect(stdout).toMatch(
    /^Not validated: .*signed with secret 2 of 2 \(status 401\).* \(GENUINE_REFUSED\)\.\n$/,
  );
});

test("probe exits with 1 when the receiver verifies nothing, and --json prints only the result", async () => {
  const { url } = await receiver();
  const { status, stdout, stderr } = await probe(url, ["--json", "--wait", "60"]);
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toEqual({
    validated: false,
    code: "BROKEN_ACCEPTED",
    genuine: { status: 204 },
    broken: { status: 204 },
  });
  expect(stderr).toMatch(/does not verify signatures.*\n$/);
});

test("probe asks once without --wait, and retries with it", async () => {
  let asked = 0;
  const handler = nodeHandler(createReceiver({ secrets: SECRET, handlers: {}, onRejected: () => {} }));
  const server = createServer((request, response) => {
    asked += 1;
    if (asked <= 4) response.writeHead(503).end();
    else void handler(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  served.push({ url: "", close: () => new Promise((closed) => server.close(() => closed())) });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`;

  const once = await probe(url, ["--json"]);
  expect([once.status, JSON.parse(once.stdout).code, asked]).toEqual([1, "RECEIVER_NOT_READY", 2]);
  expect((await probe(url, ["--wait", "30"])).status).toBe(0);
  expect(asked).toBe(6);
});

test("probe fails if the stack that --stack names cannot be read, although the secret comes from elsewhere", async () => {
  const { cwd, env } = stackFolder({ error: "error: no stack named nosuch found" });
  const { status, stderr } = await run(
    ["probe", "http://127.0.0.1:1/", "--secret-env", "THE_SECRET", "--stack", "nosuch"],
    { cwd, env: { ...env, THE_SECRET: SECRET } },
  );
  expect(status).toBe(1);
  expect(stderr).toMatch(/^error: .*no stack named nosuch found \(PULUMI_FAILED\)\n$/);
});

test("probe reports a receiver that does not answer", async () => {
  const { stdout, status } = await probe("http://127.0.0.1:1/", ["--json"]);
  expect([status, JSON.parse(stdout)]).toEqual([
    1,
    { validated: false, code: "RECEIVER_UNREACHABLE", genuine: { status: null }, broken: { status: null } },
  ]);
});
