import type { IncomingMessage } from "node:http";
import { isTrusted } from "../../src/page/guard";
import { HOOK, started } from "../emulator/support";
import { submit, visit } from "./visit";

const PATHS = ["/", "/_emulator/", "/_emulator/script.js", "/_emulator/attempts/1"];
const ACTIONS = [
  ...["run-job", "send", "register", "delete", "add-fault", "remove-fault", "clear-requests"],
  ...["rotate", "finish-rotation", "replay", "tamper", "clear"],
];

test.each([
  ["another site's name, as in DNS rebinding, is refused", "evil.example", 403],
  ["a name that begins with a loopback address is refused", "127.0.0.1.evil.example", 403],
  ["a name without a dot is refused", "emulator:8787", 403],
  ["another machine's address is refused", "192.0.2.1:8787", 403],
  ...["localhost", "LOCALHOST:80", "127.0.0.1:8787", "127.9.9.9", "[::1]:8787"].map(
    (host): [string, string, number] => ["this machine's is served", host, 200],
  ),
])("as the Host of a request to the page, %s: %s", async (_, host, status) => {
  const emulator = await started();
  const refusable = status === 403 ? PATHS : ["/_emulator/"];
  for (const path of refusable)
    expect((await visit(emulator, path, { headers: { host } })).status).toBe(status);
  if (status === 200) return;
  expect((await submit(emulator, "rotate", {}, { host, origin: `http://${host}` })).status).toBe(403);
  expect(emulator.secrets()).toHaveLength(1);
});

test.each(["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"])(
  "the page refuses what a proxy on this machine forwards with %s, and the API does not",
  async (name) => {
    const emulator = await started();
    const headers = { [name]: "192.0.2.1" };
    for (const path of PATHS) expect((await visit(emulator, path, { headers })).status).toBe(403);
    expect((await submit(emulator, "rotate", {}, headers)).status).toBe(403);
    const api = { ...headers, "x-api-key": emulator.apiKey };
    expect((await fetch(`${emulator.url}/webhooks`, { headers: api })).status).toBe(200);
  },
);

test.each([
  ["::1", "accepted"],
  ["127.0.0.1", "accepted"],
  ["::ffff:127.0.0.1", "accepted"],
  ["192.0.2.1", "refused"],
  ["::ffff:192.0.2.1", "refused"],
  [undefined, "refused"],
])("a connection from %s is %s", (remoteAddress, expected) => {
  const request = { method: "GET", headers: { host: "localhost" }, socket: { remoteAddress } };
  const trusted = isTrusted(request as unknown as IncomingMessage);
  expect(trusted ? "accepted" : "refused").toBe(expected);
});

test.each<[string, Record<string, string>]>([
  ["without an Origin", { origin: "" }],
  ["with a hidden Origin", { origin: "null" }],
  ["from another site", { origin: "https://evil.example" }],
  ["from another port of this machine", { origin: "http://127.0.0.1:1" }],
  ["from https", { origin: "https://127.0.0.1" }],
  ["that the browser calls cross-site", { "sec-fetch-site": "cross-site" }],
  ["that the browser calls same-site", { "sec-fetch-site": "same-site" }],
])(
  "an action %s is refused and does nothing, and one of the page itself is performed",
  async (_, headers) => {
    const emulator = await started();
    const { id: endpointId } = emulator.add({ ...HOOK, url: emulator.url });
    await emulator.deliver({ event: "job.running", endpointId, retryDelaysMs: [] });
    emulator.fault({ operation: "any", kind: "empty" });
    const state = async () => {
      const { body } = await visit(emulator, "/_emulator/?tab=faults");
      return [emulator.deliveries.length, emulator.endpoints().length, emulator.secrets().length, body];
    };
    const before = await state();
    const fault = { operation: "any", kind: "empty", times: "1" };
    const fields = { ...fault, target: endpointId, url: "https://a.example", type: "production" };
    for (const action of ACTIONS) {
      const { status } = await submit(emulator, action, fields, headers);
      expect([action, status]).toEqual([action, 403]);
    }
    expect(await state()).toEqual(before);
    expect((await submit(emulator, "rotate", {}, { "sec-fetch-site": "same-origin" })).status).toBe(303);
    expect(emulator.secrets()).toHaveLength(2);
  },
);

test("the page forbids inline scripts, foreign content, frames and caching", async () => {
  const { headers, body } = await visit(await started());
  const policy = headers["content-security-policy"];
  expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'/);
  expect(policy).toMatch(/form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/);
  expect(headers).toMatchObject({
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
  });
  expect(body).not.toMatch(/<script>|<style|\son\w+=|\sstyle=/);
});
