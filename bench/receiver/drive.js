// Drives the servers of the comparisons: each is a process of its own, so that its cost is the CPU time of the process.

const { fork } = require("node:child_process");
const { once } = require("node:events");
const { randomBytes } = require("node:crypto");
const http = require("node:http");
const path = require("node:path");
const { sign } = require("../../dist/signature/index.js");

const CONNECTIONS = 8;

const secret = `whsec_${randomBytes(24).toString("base64")}`;

/**
 * Compares servers within each round, as other work on the machine disturbs all servers of a round alike.
 * @param {Record<string, readonly string[]>} variants the arguments of each server, by its name
 * @returns the microseconds of CPU time for each delivery, and the deliveries in a second, of each server in each round
 */
async function rounds(variants, { count, deliveries }) {
  const servers = {};
  for (const [name, args] of Object.entries(variants)) servers[name] = await start(args);
  const measured = [];
  for (let round = -2; round < count; round++) {
    const used = {};
    for (const [name, server] of Object.entries(servers))
      used[name] = await usedFor(server, messages(`${name.replaceAll(" ", "_")}_${round + 2}`, deliveries));
    if (round >= 0) measured.push(used);
  }
  for (const { child, agent } of Object.values(servers)) {
    agent.destroy();
    child.disconnect();
  }
  return measured;
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

async function start([variant, ...urls]) {
  const child = fork(path.join(__dirname, "server.js"), [variant, secret, ...urls]);
  const [{ port }] = await once(child, "message");
  return { child, port, agent: new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS }) };
}

async function usedFor(server, messages) {
  const before = await cpuOf(server);
  const startedAt = performance.now();
  const next = messages[Symbol.iterator]();
  const connection = async () => {
    for (const message of next) await post(server, message);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  const perSecond = (messages.length / (performance.now() - startedAt)) * 1000;
  return { cpu: ((await cpuOf(server)) - before) / messages.length, perSecond };
}

async function cpuOf({ child }) {
  child.send("cpu");
  const [{ cpu }] = await once(child, "message");
  return cpu;
}

function post({ port, agent }, { headers, body }) {
  return new Promise((resolve, reject) => {
    const request = http.request({ port, host: "127.0.0.1", method: "POST", agent, headers }, (response) => {
      if (response.statusCode > 202) reject(new Error(`a benchmark was answered ${response.statusCode}`));
      response.resume().on("end", resolve);
    });
    request.on("error", reject).end(body);
  });
}

/** Makes deliveries with different ids, so that each is handled. */
function messages(name, count) {
  const timestamp = Math.floor(Date.now() / 1000);
  return Array.from({ length: count }, (_, i) => {
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

module.exports = { median, rounds };
