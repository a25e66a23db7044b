import { receiver } from "../emulator/receiver";
import { fakePulumi, OTHER_SECRET, receiverOutput, run, SECRET, start } from "./running";

/** Sends a delivery to a receiver, and returns what the command prints and the headers that arrived. */
async function sent(options: Parameters<typeof run>[1], ...more: readonly string[]) {
  const target = await receiver();
  const ended = await run(["send", "job.running", "--to", target.url, ...more], options);
  return { ...ended, signatures: String(target.received[0]?.headers["webhook-signature"]).split(" ").length };
}

const stack = fakePulumi({ outputs: { receiver: receiverOutput([SECRET, OTHER_SECRET]) } });

test.each([
  ["WEBHOOK_SECRET", { env: { WEBHOOK_SECRET: SECRET }, pulumi: stack }, 1],
  ["two secrets in WEBHOOK_SECRET", { env: { WEBHOOK_SECRET: `${SECRET}\n${OTHER_SECRET}` } }, 2],
  [
    "WEBHOOK_RECEIVER",
    { env: { WEBHOOK_RECEIVER: JSON.stringify(receiverOutput([SECRET])) }, pulumi: stack },
    1,
  ],
  ["the selected stack", { pulumi: stack }, 2],
  ["a person", { answers: [SECRET] }, 1],
] as const)("the signing secrets come from %s", async (_source, options, signatures) => {
  expect(await sent(options)).toMatchObject({ status: 0, signatures });
});

test("the question for a secret is asked only if nothing else has one, and does not echo", async () => {
  const running = start(["send", "job.running", "--to", "http://127.0.0.1:1/"], { answers: [SECRET] });
  await running.ended;
  expect(running.asked).toEqual(["The signing secret (whsec_…, not shown): "]);
  expect(running.stdout).toContain("no response (ECONNREFUSED)");
});

test.each([
  [
    "no source",
    {},
    "SECRET_MISSING",
    /WEBHOOK_SECRET.*WEBHOOK_RECEIVER.*output receiver.*`export WEBHOOK_RECEIVER="\$\(pulumi stack output receiver --show-secrets --json\)"`/,
  ],
  [
    "a stack without the output",
    { pulumi: fakePulumi({ outputs: { other: 1 } }) },
    "SECRET_MISSING",
    /no signing secret: the selected stack has no output receiver/,
  ],
  [
    "Pulumi without a login",
    {
      pulumi: fakePulumi({
        error: "PULUMI_ACCESS_TOKEN must be set for login during non-interactive CLI sessions",
      }),
    },
    "SECRET_MISSING",
    /no signing secret: Pulumi is not logged in\. Set WEBHOOK_SECRET.*logged in/,
  ],
  ["a cut secret", { env: { WEBHOOK_SECRET: SECRET.slice(0, 20) } }, "CONFIG_INVALID", /secret 1 of 1/],
  ["a word", { env: { WEBHOOK_SECRET: "topsecret" } }, "CONFIG_INVALID", /WEBHOOK_SECRET cannot be used/],
  ["no JSON", { env: { WEBHOOK_RECEIVER: "{" } }, "CONFIG_INVALID", /in WEBHOOK_RECEIVER/],
  [
    "a masked output",
    { pulumi: fakePulumi({ outputs: { receiver: "[secret]" } }) },
    "CONFIG_INVALID",
    /masked/,
  ],
  ["a failure", { pulumi: fakePulumi({ error: "incorrect passphrase" }) }, "PULUMI_FAILED", /passphrase/],
  ["an empty answer", { answers: [""] }, "CONFIG_INVALID", /what was typed cannot be used/],
] as const)("%s is an error with a way on, and nothing is sent", async (_what, options, code, why) => {
  const { status, stderr, signatures } = await sent(options);
  expect(status).toBe(1);
  expect(stderr).toMatch(new RegExp(`^(There is no signing secret: .*\n)?error: [^\n]* \\(${code}\\)\n$`));
  expect(stderr).toMatch(why);
  expect(signatures).toBe(1);
});

test("a stack that the user named must have the output", async () => {
  const { stderr } = await sent({ pulumi: fakePulumi({ outputs: { jobs: 1 } }) }, "--stack", "dev");
  expect(stderr).toMatch(
    /in the output receiver of the stack dev .*is not set\. Use what receiverConfig returned.*\(CONFIG_INVALID\)/,
  );
});
