// What a receiver costs: CPU time for each delivery of 1 KiB, compared with a bare server that reads and drops the same bytes, and with
// the same server written with `standardwebhooks`. And how long it takes to load.

const { execFileSync, fork } = require("node:child_process");
const { once } = require("node:events");
const { randomBytes } = require("node:crypto");
const http = require("node:http");
const path = require("node:path");
const { sign } = require("../dist/signature/index.js");
const { verdict } = require("./measure.js");

const MOST_OF_BARE = 2.0;
const MOST_OF_STANDARD = 0.75;
const MOST_LOADING = 4;
const ROUNDS = 15;
const DELIVERIES = 3000;
const CONNECTIONS = 8;

const secret = `whsec_${randomBytes(24).toString("base64")}`;

async function main() {
  await cpu();
  loading();
}

/** Compares within each round, as other work on the machine disturbs all servers of a round alike, and takes the median of the rounds. */
async function cpu() {
  const servers = {};
  for (const name of ["bare", "ours", "standardwebhooks"]) servers[name] = await start(name);
  const rounds = [];
  for (let round = -2; round < ROUNDS; round++) {
    const used = {};
    for (const [name, server] of Object.entries(servers))
      used[name] = await usedFor(server, messages(`${name}_${round + 2}`));
    if (round >= 0) rounds.push(used);
  }
  for (const { child, agent } of Object.values(servers)) {
    agent.destroy();
    child.disconnect();
  }

  console.log("receiver, microseconds of CPU time for each delivery of 1 KiB (medians)\n");
  for (const name of Object.keys(servers)) {
    const used = median(rounds.map((round) => round[name]));
    console.log(`  ${name.padEnd(20)} ${used.toFixed(1).padStart(7)}`);
  }
  const ofBare = median(rounds.map(({ ours, bare }) => ours / bare));
  const ofStandard = median(rounds.map(({ ours, standardwebhooks }) => ours / standardwebhooks));
  console.log(
    `  ${ofBare.toFixed(2)} times the bare server, at most ${MOST_OF_BARE}: ${verdict(ofBare <= MOST_OF_BARE)}`,
  );
  console.log(
    `  ${ofStandard.toFixed(2)} of the server with standardwebhooks, at most ${MOST_OF_STANDARD}: ${verdict(ofStandard <= MOST_OF_STANDARD)}\n`,
  );
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

async function start(name) {
  const child = fork(path.join(__dirname, "receiver", "server.js"), [name, secret]);
  const [{ port }] = await once(child, "message");
  return { child, port, agent: new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS }) };
}

/** Returns the microseconds of CPU time that the server took for each message. */
async function usedFor(server, messages) {
  const before = await cpuOf(server);
  const next = messages[Symbol.iterator]();
  const connection = async () => {
    for (const message of next) await post(server, message);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return ((await cpuOf(server)) - before) / messages.length;
}

async function cpuOf({ child }) {
  child.send("cpu");
  const [{ cpu }] = await once(child, "message");
  return cpu;
}

function post({ port, agent }, { headers, body }) {
  return new Promise((resolve, reject) => {
    const request = http.request({ port, host: "127.0.0.1", method: "POST", agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`a benchmark was answered ${response.statusCode}`));
      response.resume().on("end", resolve);
    });
    request.on("error", reject).end(body);
  });
}

/** Makes deliveries with different ids, so that each is handled. */
function messages(name) {
  const timestamp = Math.floor(Date.now() / 1000);
  return Array.from({ length: DELIVERIES }, (_, i) => {
    const data = { jobId: `job_${i}`, status: "succeeded", output: "x".repeat(950) };
    const body = JSON.stringify({ type: "job.succeeded", data }).padEnd(1024, " ");
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      "user-agent": "webhooks/1.0",
      ...sign({ id: `msg_${name}_${i}`, timestamp, body, secret }),
    };
    return { headers, body };
  });
}

function loading() {
  const receiver = path.join(__dirname, "..", "dist", "receiver", "index.js");
  const best = { "node:http": Number.POSITIVE_INFINITY, receiver: Number.POSITIVE_INFINITY };
  for (let round = 0; round < ROUNDS; round++) {
    best["node:http"] = Math.min(best["node:http"], loadingTime("node:http"));
    best.receiver = Math.min(best.receiver, loadingTime(receiver));
  }
  const times = best.receiver / best["node:http"];
  console.log(
    `loading ./receiver: ${best.receiver.toFixed(2)} ms, node:http: ${best["node:http"].toFixed(2)} ms`,
  );
  console.log(`  ${times.toFixed(2)} times, at most ${MOST_LOADING}: ${verdict(times <= MOST_LOADING)}`);
}

function loadingTime(name) {
  const script = `const t = process.hrtime.bigint(); require(${JSON.stringify(name)}); console.log(Number(process.hrtime.bigint() - t) / 1e6)`;
  return Number(execFileSync(process.execPath, ["-e", script], { encoding: "utf8" }));
}

void main();
