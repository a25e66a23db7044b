// Libraries of other people that sign and verify as the Standard Webhooks specification says. Each runs in a process that reads requests,
// one a line: `sign SECRET ID TIMESTAMP BODY` prints the signature, `verify SECRET ID TIMESTAMP BODY SIGNATURES` prints `genuine` or
// `refused`. The body is in base64, and "|" separates signatures.
const { execFileSync, spawnSync } = require("node:child_process");
const { randomBytes } = require("node:crypto");
const path = require("node:path");

const inFolder = (...names) => path.join(__dirname, ...names);
const run = (command, args, options) =>
  execFileSync(command, args, { stdio: ["ignore", "ignore", "pipe"], ...options });

/** The libraries that `npm test` has. */
const NPM_PEERS = {
  "standardwebhooks of npm": () => [process.execPath, inFolder("node/peer.mjs"), "standardwebhooks"],
  "svix of npm": () => [process.execPath, inFolder("node/peer.mjs"), "svix"],
};

/** Each builds its program in a folder that the caller removes, and returns the command that runs it. */
const OTHER_PEERS = {
  "standardwebhooks of PyPI": (folder) => python(folder, "standardwebhooks", "1.1.0"),
  "svix of PyPI": (folder) => python(folder, "svix", "2.9.1"),
  "standard-webhooks for Go"(folder) {
    run("go", ["build", "-o", folder, "."], {
      cwd: inFolder("go"),
      env: { ...process.env, GOFLAGS: "", GOWORK: "off" },
    });
    return [path.join(folder, "peer")];
  },
  "standardwebhooks of crates.io"(folder) {
    run("cargo", ["build", "--locked", "--target-dir", folder], { cwd: inFolder("rust") });
    return [path.join(folder, "debug/peer")];
  },
  "com.standardwebhooks of Maven Central"(folder) {
    const pom = ["-q", "-f", inFolder("java/pom.xml")];
    run("mvn", [...pom, "dependency:copy-dependencies", `-DoutputDirectory=${folder}`]);
    const classpath = ["-cp", `${path.join(folder, "*")}${path.delimiter}${folder}`];
    run("javac", [...classpath, "-d", folder, inFolder("java/Peer.java")]);
    return ["java", ...classpath, "Peer"];
  },
};

function python(folder, name, version) {
  run("python3", ["-m", "venv", folder]);
  const command = path.join(folder, "bin/python");
  run(command, ["-m", "pip", "install", "--quiet", `${name}==${version}`]);
  return [command, inFolder("python/peer.py"), name];
}

// Without a byte order mark: some of the libraries also parse the body, and refuse it there.
const BODIES = [
  '{"type":"job.succeeded","data":{"jobId":"job_1"}}',
  '{ "type": "job.failed",  "n": 1.0, "path": "a\\/b" }\r\n',
  '{"name":"Zoë 東京 🚀","escaped":"\\u00e4"}',
];
const SECRETS = [24, 32, 64].map((bytes) => `whsec_${randomBytes(bytes).toString("base64")}`);

/**
 * Returns what a library and this package disagree on: whether each accepts what the other signs, among other signatures too, and refuses
 * another body and another secret.
 */
function disagreements(commandLine, { sign, verify }) {
  const [command = "", ...args] = commandLine;
  const timestamp = Math.floor(Date.now() / 1000);
  const checks = SECRETS.flatMap((secret, at) => BODIES.map((body) => ({ secret, body, at }))).flatMap(
    ({ secret, body, at }, index) => {
      const other = SECRETS[(at + 1) % SECRETS.length];
      const id = `msg_${index}`;
      const ours = sign({ id, timestamp, body, secret: [other, secret] })["webhook-signature"];
      const asks = (verb, text, key = secret) =>
        `${verb} ${key} ${id} ${timestamp} ${Buffer.from(text).toString("base64")}`;
      const verifies = (text, key) => `${asks("verify", text, key)} ${ours.replaceAll(" ", "|")}`;
      const third = SECRETS[(at + 2) % SECRETS.length];
      const isAccepted = (signature) => {
        const headers = {
          "webhook-id": id,
          "webhook-timestamp": String(timestamp),
          "webhook-signature": signature,
        };
        return verify(body, headers, secret) && !verify(`${body} `, headers, secret);
      };
      return [
        { asked: asks("sign", body), isRight: isAccepted, what: "its signature is accepted here" },
        { asked: verifies(body), isRight: (said) => said === "genuine", what: "ours is accepted there" },
        {
          asked: verifies(`${body} `),
          isRight: (said) => said === "refused",
          what: "another body is refused",
        },
        {
          asked: verifies(body, third),
          isRight: (said) => said === "refused",
          what: "another secret is refused",
        },
      ];
    },
  );
  const input = `${checks.map(({ asked }) => asked).join("\n")}\n`;
  const { stdout, stderr, error } = spawnSync(command, args, { input, encoding: "utf8" });
  if (error) throw error;
  const said = stdout.split(/\r?\n/);
  return checks
    .filter(({ isRight }, index) => !isRight(said[index] ?? ""))
    .map(({ what, asked }) => `not so: ${what} (${asked.slice(0, 30)}…) ${stderr.slice(0, 300)}`);
}

module.exports = { disagreements, NPM_PEERS, OTHER_PEERS };
