import { join } from "node:path";
import { sign } from "../../src/signature";
import { receiver } from "../emulator/receiver";
import { cleanUp, makeFolder, OTHER_SECRET, run, SECRET, start } from "./commandLine";
import { COMPACT, lines, OLD, verify } from "./verifying";

afterEach(cleanUp);

const forms: Readonly<Record<string, (headers: Readonly<Record<string, string>>) => string>> = {
  "lines in upper case with CRLF": (headers) =>
    Object.entries(headers)
      .map(([name, value]) => `${name.toUpperCase()}:${value}\r\n`)
      .join(""),
  "a request with its first line and a body": (headers) =>
    `POST /jobs HTTP/1.1\nHost: example.com\n${lines(headers)}\n{"not":"a header"}\n`,
  "the output of curl -v": (headers) =>
    `* Connected\n> POST / HTTP/1.1\n${lines(headers).replace(/^/gm, "> ").replace(/> $/, "")}< HTTP/1.1 401 Unauthorized\n< webhook-id: other\n`,
  "an object that Node.js printed": (headers) =>
    `{\n${Object.entries(headers)
      .map(([name, value]) => `  '${name}': '${value}',`)
      .join("\n")}\n}\n`,
  "a list of Elixir behind the level of a log": (headers) =>
    `02:00:00.123 [info] [{"host", "a.example.com"}, ${Object.entries(headers)
      .map(([name, value]) => `{"${name}", "${value}"}`)
      .join(", ")}]\n`,
  "a list of Python's bytes behind the level of a log": (headers) =>
    `INFO:root:[(b'host', b'a'), ${Object.entries(headers)
      .map(([name, value]) => `(b'${name}', b'${value}')`)
      .join(", ")}]\n`,
  "JSON pairs behind the time of a log": (headers) => `[12:00] ${JSON.stringify(Object.entries(headers))}\n`,
  "JSON of PHP behind the time of a log": (headers) =>
    `[26-Nov-2026 01:47:53 UTC] ${JSON.stringify(headers).replaceAll("/", "\\/")}\n`,
  "JSON of Gson behind the level of a log": (headers) =>
    `INFO: headers: ${JSON.stringify(headers).replaceAll("=", "\\u003d").replaceAll("+", "\\u002B")}\n`,
  "a JSON object": (headers) => JSON.stringify(headers),
  "a JSON object with lists": (headers) =>
    JSON.stringify(Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]))),
  "JSON pairs": (headers) => JSON.stringify(Object.entries(headers)),
  "the headers of an HAR file": (headers) =>
    JSON.stringify(Object.entries(headers).map(([name, value]) => ({ name, value }))),
};

test.each(Object.entries(forms))("verify reads headers as %s", async (_form, headers) => {
  expect(await verify({ headers })).toMatchObject({ status: 0 });
});

test("verify says so when the file of headers holds no header", async () => {
  const { stdout } = await verify({ headers: () => "no header here\n" });
  expect(stdout).toContain("The file of headers holds no header.");
});

test("verify says that headers may be unreadable before it blames another program", async () => {
  const { stdout } = await verify({ headers: (headers) => `a: b\n${lines(headers).replaceAll(":", " |")}` });
  expect(stdout).toMatch(/could not be read\. Write one header on each line/);
});

test("verify reads a delivery from one file, or from standard input", async () => {
  const headers = sign({ id: "msg_1", timestamp: OLD, body: COMPACT, secret: SECRET });
  const capture = JSON.stringify({ headers, body: COMPACT });
  const folder = makeFolder({ capture, headers: lines(headers), body: COMPACT });
  const env = { THE_SECRET: SECRET };
  const source = ["--secret-env", "THE_SECRET"];
  const piped = async (args: readonly string[], input: string) => {
    const started = start(["verify", ...args, ...source], { env });
    started.child.stdin?.end(input);
    return (await started.ended).status;
  };
  expect(await piped(["--capture", join(folder, "capture")], "")).toBe(0);
  expect(await piped(["--capture", "-"], capture)).toBe(0);
  expect(await piped(["--headers", "-", "--body", join(folder, "body")], lines(headers))).toBe(0);
  expect(await piped(["--headers", join(folder, "headers"), "--body", "-"], COMPACT)).toBe(0);
});

test("verify --id chooses one of several deliveries", async () => {
  const signed = (id: string, secret: string) => ({
    request: { headers: sign({ id, timestamp: OLD, body: COMPACT, secret }), body: COMPACT },
  });
  const capture = JSON.stringify([signed("msg_1", OTHER_SECRET), signed("msg_2", SECRET)]);
  const args = [
    "verify",
    "--capture",
    join(makeFolder({ capture }), "capture"),
    "--secret-env",
    "THE_SECRET",
  ];
  const options = { env: { THE_SECRET: SECRET } };
  expect((await run(args, options)).stderr).toMatch(
    /^error: the file has 2 deliveries: choose one with --id, such as msg_1, msg_2 \(WRONG_USE\)\n$/,
  );
  expect((await run([...args, "--id", "msg_2"], options)).status).toBe(0);
  expect((await run([...args, "--id", "msg_3"], options)).stderr).toContain(
    "no delivery in the file has the id of --id",
  );
});

test("verify and send call no request a delivery that has none of its headers, and leave the response of an HAR file out", async () => {
  const answer = { headers: [{ name: "server", value: "nginx" }], status: 200 };
  const asked = (body: string) => ({
    request: { headers: [{ name: "host", value: "a.example.com" }], postData: { text: body } },
    response: answer,
  });
  const env = { THE_SECRET: SECRET };
  const captured = async (...entries: object[]) => {
    const capture = join(makeFolder({ capture: JSON.stringify({ log: { entries } }) }), "capture");
    return [
      await run(["verify", "--capture", capture, "--secret-env", "THE_SECRET"], { env }),
      await run(["send", "--capture", capture, "--to", "http://127.0.0.1:1/"]),
    ] as const;
  };
  const [one, sentOne] = await captured(asked("{}"));
  expect(one.stdout).toMatch(/^Not verified: missing-id/);
  expect(one.stderr).not.toContain("deliveries");
  const [two, sentTwo] = await captured(asked("{}"), asked("[]"), {
    request: { headers: [] },
    response: answer,
  });
  expect(two.stdout).toMatch(/^Not verified: missing-id/);
  expect(two.stderr).toContain(
    "None of the file's 3 requests has the header webhook-id. This is about the last of them.",
  );
  for (const { status, stderr } of [sentOne, sentTwo])
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/is no delivery.*--sign-anew \(WRONG_USE\)\n$/),
    ]);
});

test.each(["***", "[REDACTED]", "<hidden>", "xxxxx"])(
  "verify says that a signature was masked as %s, and blames neither the sender nor the file's form",
  async (masked) => {
    const { stdout } = await verify({
      headers: (headers) => JSON.stringify({ ...headers, "webhook-signature": masked }),
    });
    expect(stdout).toMatch(/^Not verified: no-v1-signature\.\n.*was masked when it was printed/);
    expect(stdout).toContain("Take the header as it was received");
  },
);

test("verify and send take the newest of several deliveries with one id, and say how many there are", async () => {
  const signed = (timestamp: number, body: string) => ({
    headers: sign({ id: "msg_1", timestamp, body: COMPACT, secret: SECRET }),
    body,
  });
  const capture = JSON.stringify([signed(OLD, "{}"), signed(OLD + 60, COMPACT)]);
  const path = join(makeFolder({ capture }), "capture");
  const env = { THE_SECRET: SECRET };
  const verified = await run(["verify", "--capture", path, "--secret-env", "THE_SECRET"], { env });
  expect([verified.status, verified.stdout]).toEqual([0, expect.stringContaining("Verified: msg_1")]);
  const { url, received } = await receiver();
  const sent = await run(["send", "--capture", path, "--to", url]);
  expect(received.map(({ body }) => body)).toEqual([COMPACT]);
  for (const { stderr } of [verified, sent])
    expect(stderr).toContain(
      "The file has 2 deliveries with the same id. This is about the newest of them.\n",
    );
});
