import { once } from "node:events";
import { join } from "node:path";
import { sign } from "../../src/signature";
import { fingerprintOf } from "../../src/stack/config";
import { cleanUp, makeFolder, OTHER_SECRET, run, SECRET, stackFolder, start } from "./commandLine";
import { COMPACT, CONTENT, HOUR, lines, OLD, verify } from "./verifying";

afterEach(cleanUp);

test("verify exits with 0 for an old capture whose signature is right, and shows secret, time and age", async () => {
  const { status, stdout, stderr } = await verify({});
  expect(status).toBe(0);
  expect(stdout).toBe(
    `Verified: msg_1 was signed with the secret (fingerprint ${fingerprintOf([SECRET])}).\n` +
      `Sent: ${new Date(OLD * 1000).toISOString().replace(".000", "")}, 3 hours ago.\n`,
  );
  expect(stderr).toMatch(
    /^A receiver that gets it only now refuses it as too old: it accepts 5 minutes\. .*--at\.\n$/,
  );
});

test("verify --json prints which secret signed, and when", async () => {
  const { status, json } = await verify({ secret: OTHER_SECRET }, ["--json"], {
    env: { THE_SECRET: `# rotating\n${SECRET}\n\n${OTHER_SECRET}\n` },
  });
  expect([status, json]).toEqual([
    0,
    {
      verified: true,
      id: "msg_1",
      timestamp: OLD,
      ageSeconds: expect.any(Number),
      secret: { name: "secret 2 of 2", fingerprint: fingerprintOf([OTHER_SECRET]) },
    },
  ]);
});

const at = (timestamp: number) => new Date(timestamp * 1000).toISOString();

test.each([
  ["in time", OLD + 299, [], 0, /^Verified/],
  [
    "late",
    OLD + 601,
    [],
    1,
    /timestamp-too-old\.\n.*was 10 minutes 1 second old when it was received\. The receiver accepts 5 minutes\./,
  ],
  [
    "early",
    OLD - 601,
    [],
    1,
    /timestamp-too-new\.\n.*was 10 minutes 1 second in the future when it was received\./,
  ],
  ["late, but within --tolerance", OLD + 601, ["--tolerance", "900"], 0, /^Verified/],
  ["late, with no window", OLD + 601, ["--tolerance", "0"], 0, /^Verified/],
])(
  "verify --at judges the clock of a delivery that came %s",
  async (_how, moment, args, expected, output) => {
    for (const form of [at(moment), String(moment)]) {
      const { status, stdout } = await verify({}, ["--at", form, ...args]);
      expect(stdout).toMatch(output);
      expect(status).toBe(expected);
    }
  },
);

test("verify checks the clock of a capture that says when it arrived", async () => {
  const headers = sign({ id: "msg_1", timestamp: OLD, body: COMPACT, secret: SECRET });
  const capture = JSON.stringify({ receivedAt: at(OLD + HOUR), headers, body: COMPACT });
  const { stdout } = await run(
    ["verify", "--capture", join(makeFolder({ capture }), "capture"), "--secret-env", "THE_SECRET"],
    { env: { THE_SECRET: SECRET } },
  );
  expect(stdout).toMatch(/^Not verified: timestamp-too-old\./);
});

test("Ctrl-C ends verify at once while it searches megabytes", async () => {
  const body = JSON.stringify(Array.from({ length: 60_000 }, (_, id) => ({ id, name: "jöb/1", cost: 1.5 })));
  const headers = lines(sign({ id: "msg_1", timestamp: OLD, body: "other", secret: SECRET }));
  const folder = makeFolder({ headers });
  const files = ["--headers", join(folder, "headers"), "--body", "-"];
  const started = start(["verify", ...files, "--secret-env", "THE_SECRET", "--search", "60"], {
    env: { THE_SECRET: SECRET },
  });
  // It has taken the body from the pipe, and the search takes far longer than a moment.
  const { stdin } = started.child;
  if (stdin) await once(stdin.end(body), "finish");
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(started.child.exitCode).toBeNull();
  const { status, stderr } = await started.signal("SIGINT");
  expect([status, stderr]).toEqual([130, "error: Ctrl-C ended the command (INTERRUPTED)\n"]);
});

describe("with a stack", () => {
  const config = (secrets: readonly string[], toleranceSeconds = 300) => ({
    version: 1,
    secrets,
    toleranceSeconds,
    endpoints: {},
  });
  const outputs = {
    receiver: config([SECRET], 900),
    staging: config([SECRET, OTHER_SECRET]),
    jobsId: "wh_1",
  };

  test("verify takes the secret and the tolerance from the receiver of the stack in this folder", async () => {
    const { status } = await verify({}, ["--stack", "dev", "--at", at(OLD + 601)], stackFolder({ outputs }));
    expect(status).toBe(0);
  });

  test("verify finds that the secret of another receiver of the stack signed", async () => {
    const { status, json } = await verify(
      { secret: OTHER_SECRET },
      ["--stack", "dev", "--json"],
      stackFolder({ outputs }),
    );
    expect(json).toMatchObject({
      reason: "other-secret",
      secret: { name: "secret 2 of 2 of the output staging", fingerprint: fingerprintOf([OTHER_SECRET]) },
    });
    expect(status).toBe(1);
  });

  test("verify says so too if the body was changed as well", async () => {
    const body = JSON.stringify(CONTENT, null, 2);
    const { json } = await verify(
      { secret: OTHER_SECRET, body },
      ["--stack", "dev", "--json"],
      stackFolder({ outputs }),
    );
    expect(json).toMatchObject({
      reason: "body-reserialized",
      finding: expect.stringContaining("output staging, which this receiver does not have,"),
      advice: expect.stringMatching(/^Give the receiver the secret.*Something parsed the body/),
    });
  });

  test("verify compares a secret from the environment with those of the stack that is named", async () => {
    const folder = stackFolder({ outputs: { receiver: config([OTHER_SECRET]) } });
    const options = { ...folder, env: { ...folder.env, THE_SECRET: SECRET } };
    const { json } = await verify(
      { secret: OTHER_SECRET },
      ["--secret-env", "THE_SECRET", "--stack", "dev", "--json"],
      options,
    );
    expect(json).toMatchObject({
      reason: "other-secret",
      secret: { name: "the secret of the output receiver" },
    });
  });
});
