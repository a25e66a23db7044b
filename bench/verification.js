// How fast a delivery is verified, compared with the floor (Node's own HMAC over one prepared buffer, and timingSafeEqual) and with
// the packages that people use. Each gets the form of body that it handles fastest, prepared beforehand: ours bytes, the others strings.

const { createHmac, randomBytes, timingSafeEqual } = require("node:crypto");
const standard = require("standardwebhooks");
const svix = require("svix");
const { createVerifier, sign } = require("../dist/signature/index.js");
const { keep, nanosecondsOf, verdict } = require("./measure.js");

/** The least speed by the size of the body in bytes, the floor's speed being 1. */
const LEAST_SPEED = { 256: 0.75, 4096: 0.88, 65536: 0.98, 1048576: 0.97 };
/** Where hashing takes nearly all of the time, two that hash the same bytes differ by noise. */
const NOISE = 0.95;
/** As many `v1` entries as are compared. */
const WRONG = 32;
/** How much more time a header of wrong signatures may take than one wrong signature. */
const MOST_FOR_WRONG = 3;

const secret = `whsec_${randomBytes(24).toString("base64")}`;
const key = Buffer.from(secret.slice("whsec_".length), "base64");

async function main() {
  const octokit = await import("@octokit/webhooks-methods");
  console.log("verification, microseconds a message (in brackets: speed, the floor being 1)\n");
  const speeds = {};
  for (const size of Object.keys(LEAST_SPEED).map(Number)) speeds[size] = await compare(size, octokit);
  keep(speeds);
  await wrongSignatures(4096);
}

/** Returns the speed of each variant, the floor's being 1. */
async function compare(size, octokit) {
  const text = JSON.stringify({ pad: "x".repeat(size - 10) });
  const { body, headers, prepared, expected, verifier } = message(text);
  const peers = { standardwebhooks: new standard.Webhook(secret), svix: new svix.Webhook(secret) };
  const githubSignature = await octokit.sign(secret, text);
  const times = await nanosecondsOf({
    floor: () => timingSafeEqual(createHmac("sha256", key).update(prepared).digest(), expected),
    ours: () => verifier.verify(body, headers) || fail(),
    standardwebhooks: () => peers.standardwebhooks.verify(text, headers, { jsonParse: false }),
    svix: () => peers.svix.verify(text, headers),
    "@octokit/webhooks-methods": async () => (await octokit.verify(secret, text, githubSignature)) || fail(),
  });

  const speed = times.floor / times.ours;
  const fastest = Object.entries(times).every(
    ([name, time]) => name === "floor" || name === "ours" || time > times.ours * NOISE,
  );
  console.log(`${size} bytes`);
  for (const [name, time] of Object.entries(times)) {
    console.log(
      `  ${name.padEnd(26)} ${(time / 1000).toFixed(2).padStart(9)}  (${(times.floor / time).toFixed(3)})`,
    );
  }
  console.log(
    `  speed ${speed.toFixed(3)}, at least ${LEAST_SPEED[size]}: ${verdict(speed >= LEAST_SPEED[size])}`,
  );
  console.log(`  slower than none of the others: ${verdict(fastest)}\n`);
  const { floor, ...others } = times;
  return Object.fromEntries(Object.entries(others).map(([name, time]) => [name, floor / time]));
}

/** A header full of wrong signatures must cost little more than one: the body is hashed once. */
async function wrongSignatures(size) {
  const { body, headers, verifier } = message("x".repeat(size));
  const wrong = Array.from({ length: WRONG }, () => `v1,${randomBytes(32).toString("base64")}`);
  const one = { ...headers, "webhook-signature": wrong[0] };
  const many = { ...headers, "webhook-signature": wrong.join(" ") };
  const times = await nanosecondsOf({
    one: () => !verifier.verify(body, one) || fail(),
    many: () => !verifier.verify(body, many) || fail(),
  });
  const ratio = times.many / times.one;
  console.log(
    `${WRONG} wrong signatures in one header, ${size} bytes: ${(times.many / 1000).toFixed(2)} microseconds, one: ${(times.one / 1000).toFixed(2)}; ` +
      `${ratio.toFixed(2)} times, less than ${MOST_FOR_WRONG}: ${verdict(ratio < MOST_FOR_WRONG)}`,
  );
}

function message(text) {
  const body = Buffer.from(text);
  const id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
  const timestamp = Math.floor(Date.now() / 1000);
  const signed = sign({ id, timestamp, body, secret });
  const prepared = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  return {
    body,
    prepared,
    expected: createHmac("sha256", key).update(prepared).digest(),
    // As a service behind a proxy gets them.
    headers: {
      host: "hooks.example.com",
      "user-agent": "webhooks/1.0",
      "content-type": "application/json",
      "content-length": String(body.length),
      "x-forwarded-for": "203.0.113.7",
      "x-forwarded-proto": "https",
      ...signed,
    },
    verifier: createVerifier({ secrets: secret }),
  };
}

function fail() {
  throw new Error("a benchmark judged a message wrongly");
}

void main();
