import { writeFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { sign } from "../../src/signature";
import { receiver } from "../emulator/receiver";
import { cleanUp, makeFolder, run, SECRET, type Started, start } from "./commandLine";

const env = { THE_SECRET: SECRET };
const BODY = '{"type":"job.succeeded","data":{"jobId":"job_1"}}';

afterEach(cleanUp);

/** Starts to listen with a page, and returns the addresses of both. */
async function listen(...args: string[]): Promise<{ started: Started; url: string; page: string }> {
  const started = start(["listen", "--secret-env", "THE_SECRET", "--page", "--json", ...args], { env });
  const [line] = await started.until(/^\{"url".*\}$/m);
  return { started, ...(JSON.parse(line) as { url: string; page: string }) };
}

async function deliver(url: string, { id = "msg_1", secret = SECRET, headers = {} } = {}): Promise<number> {
  const signed = sign({ id, timestamp: Math.floor(Date.now() / 1000), body: BODY, secret });
  const sent = { ...signed, "content-type": "application/json", ...headers };
  return (await fetch(url, { method: "POST", body: BODY, headers: sent })).status;
}

const textOf = async (url: string) => (await fetch(url)).text();

/** Posts a form as the page does. */
async function post(page: string, action: string, form: Record<string, string> = {}): Promise<number> {
  const { origin } = new URL(page);
  const body = new URLSearchParams(form);
  const headers = { origin, "sec-fetch-site": "same-origin" };
  return (await fetch(`${page}${action}`, { method: "POST", body, headers, redirect: "manual" })).status;
}

test("listen --page shows what arrives and what is refused, without credentials", async () => {
  const { url, page } = await listen();
  expect(new URL(page).pathname).toBe("/_listen/");
  expect(await textOf(page)).toContain(`Waiting for deliveries at ${url}`);
  expect(await deliver(url, { headers: { authorization: "Bearer t0ken" } })).toBe(200);
  expect(await deliver(url, { id: "msg_2", secret: `whsec_${Buffer.alloc(24, 7).toString("base64")}` })).toBe(
    401,
  );
  const shown = await textOf(page);
  expect(shown).toMatch(/delivered.*job\.succeeded/s);
  expect(shown).toMatch(/refused: signature-mismatch/);
  expect(shown).toContain("job_1");
  expect(shown).not.toContain("t0ken");
  expect(await textOf(`${page}?status=failed`)).not.toContain("msg_1 ");
  // Without a target, there is nothing to replay to.
  expect(shown).not.toContain("Replay");
  expect(await post(page, "replays", { number: "1" })).toBe(404);
});

test("what listen --page saves for verify has a header twice that came twice", async () => {
  const { url, page } = await listen();
  const { port } = new URL(url);
  const signed = sign({ id: "msg_1", timestamp: Math.floor(Date.now() / 1000), body: BODY, secret: SECRET });
  const headers = { ...signed, "webhook-id": ["msg_1", "msg_2"], "content-length": BODY.length };
  const status = await new Promise((resolve) => {
    const request = http.request({ host: "127.0.0.1", port, method: "POST", headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    request.end(BODY);
  });
  expect(status).toBe(401);
  const saved = JSON.parse(await textOf(`${page}attempts/1/capture`)) as { headers: [string, string][] };
  expect(saved.headers.filter(([name]) => name === "webhook-id").map(([, value]) => value)).toEqual([
    "msg_1",
    "msg_2",
  ]);
});

test("refused requests without an id are no attempts of one another", async () => {
  const { url, page } = await listen();
  for (const method of ["POST", "PUT"]) await fetch(url, { method, body: BODY });
  const shown = await textOf(page);
  expect(shown).toContain("2 in total");
  expect(shown).toContain("<strong>refused: missing-id</strong>");
  expect(shown).toContain("<strong>refused: method</strong>");
  expect(await textOf(`${page}?event=refused%3A+method`)).toContain("1 of 2");
  const [unread = "", read = ""] = shown.split("<article").slice(1);
  expect(unread).toContain(`To ${url}, refused before it was read.`);
  expect(unread).not.toMatch(/POST|curl|No body|content-type/);
  expect((await fetch(`${page}attempts/2/curl`)).status).toBe(404);
  expect(read).toContain("attempts/1/curl");
});

test("what listen --page copies as curl goes to the target under the target's own name, not the tunnel's", async () => {
  const target = await receiver(200);
  const { url, page } = await listen("--forward-to", target.url);
  expect(await deliver(url)).toBe(200);
  const command = await textOf(`${page}attempts/1/curl`);
  expect(command).toContain(`--url '${target.url}'`);
  expect(command).toMatch(/--header 'webhook-id: msg_1'/);
  expect(command).not.toMatch(/--header '(host|content-length|transfer-encoding):/);
  // What the sender sent is still shown and saved.
  expect(await textOf(page)).toContain(`host: ${new URL(url).host}`);
});

test("listen --page replays a delivery to the target, byte for byte, and shows its answer", async () => {
  const target = await receiver(500, 200);
  const { url, page } = await listen("--forward-to", target.url);
  expect(await deliver(url)).toBe(500);
  expect(await textOf(page)).toMatch(/class="badge bad">500/);
  expect(await post(page, "replays", { number: "1" })).toBe(303);
  const [first, second] = target.received;
  expect(second).toMatchObject({ body: first?.body, headers: { "webhook-id": "msg_1" } });
  expect(await textOf(page)).toMatch(/Replay of attempt 1.*class="badge good">200/s);
  expect(await post(page, "cleared-deliveries")).toBe(303);
  expect(await textOf(page)).not.toContain("msg_1");
});

test("a forged request has a card of its own on the page, and is never replayed", async () => {
  const target = await receiver(200, 200, 200);
  const { url, page } = await listen("--forward-to", target.url);
  const forged = { "webhook-id": "msg_1", "content-type": "application/json" };
  expect((await fetch(url, { method: "POST", body: '{"forged":true}', headers: forged })).status).toBe(401);
  expect([await deliver(url), await deliver(url)]).toEqual([200, 200]);
  const [genuine = "", refused = ""] = (await textOf(page)).split("<article").slice(1);
  expect(genuine).toMatch(/job\.succeeded.*2 attempts.*Attempt 1<.*Attempt 2<.*Replay attempt 2/s);
  expect(genuine).not.toMatch(/refused|forged/);
  expect(refused).toMatch(/refused: missing-timestamp.*forged/s);
  // The target has not answered it.
  expect([genuine.includes(`POST ${target.url}`), refused.includes(target.url)]).toEqual([true, false]);
  expect(refused).toContain(`POST ${url}`);
  expect(refused).not.toContain("Replay");
  expect(await post(page, "replays", { number: "1" })).toBe(400);
  expect(target.received.map(({ body }) => body)).toEqual([BODY, BODY]);
});

test("a delivery that the page saves is one for verify", async () => {
  const { url, page } = await listen();
  await deliver(url);
  const folder = makeFolder({});
  writeFileSync(join(folder, "capture.json"), await textOf(`${page}attempts/1/capture`));
  const args = ["verify", "--capture", join(folder, "capture.json"), "--secret-env", "THE_SECRET"];
  expect((await run(args, { env })).status).toBe(0);
});

test("listen --page shows no secret that the target's answer repeats in its body or a header", async () => {
  const target = http.createServer((_request, response) => {
    response.writeHead(200, { "content-type": `text/plain; key=${SECRET}` }).end(`key ${SECRET}`);
  });
  await new Promise<void>((resolve) => target.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = target.address() as AddressInfo;
    const { url, page } = await listen("--forward-to", `http://127.0.0.1:${port}/`);
    expect(await deliver(url)).toBe(200);
    const shown = await textOf(page);
    expect(shown).toContain("content-type: text/plain; key=");
    expect(shown).not.toContain(SECRET.slice(6));
  } finally {
    target.close();
  }
});

test("the page is not at the receiver's port, and answers only this machine's names", async () => {
  const { url, page } = await listen();
  expect((await fetch(`${url}/_listen/`)).status).toBe(405);
  const { port } = new URL(page);
  const status = await new Promise((resolve) => {
    http.get(
      { host: "127.0.0.1", port, path: "/_listen/", headers: { host: "attacker.example" } },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      },
    );
  });
  expect(status).toBe(403);
});

test("listen stops while a browser has the page open, and refuses a port of the page that is in use", async () => {
  const { started, page } = await listen();
  await textOf(page);
  const { port } = new URL(page);
  const second = await run(["listen", "--secret-env", "THE_SECRET", "--page", port], { env });
  expect(second.status).toBe(1);
  expect(second.stderr).toMatch(/cannot listen on port \d+ .*--page.*\(PORT_UNAVAILABLE\)/);
  expect((await started.signal("SIGINT")).status).toBe(0);
});
