import type { IncomingMessage } from "node:http";
import { CAPTURES } from "../../../src/emulator/page/capture";
import { refusalOf } from "../../../src/emulator/page/guard";
import { ACTIONS } from "../../../src/emulator/page/service/actions";
import { HOOK, started } from "../support";
import { submit, visit } from "./visit";

const CAPTURE_PATHS = [...CAPTURES.keys()].map((name) => `/_emulator/attempts/1/${name}`);

test.each([
  ["another site's name, as in DNS rebinding", "evil.example"],
  ["a name that begins with a loopback address", "127.0.0.1.evil.example"],
  ["a name that ends with localhost", "evil-localhost"],
  ["another machine's address", "192.0.2.1:8787"],
])("the page refuses a Host that is %s", async (_, host) => {
  const emulator = await started();
  emulator.add(HOOK);
  await emulator.deliver({ type: "job.running", retryDelaysMs: [], timeoutMs: 1 }).catch(() => undefined);
  for (const path of ["/", "/_emulator/", "/_emulator/script.js", ...CAPTURE_PATHS]) {
    expect((await visit(emulator, path, { headers: { host } })).status).toBe(403);
  }
  expect((await submit(emulator, "rotations", {}, { host, origin: `http://${host}` })).status).toBe(403);
  expect(emulator.secrets()).toHaveLength(1);
});

test.each(["localhost", "LOCALHOST:80", "127.0.0.1:8787", "127.9.9.9", "[::1]:8787"])(
  "the page answers to the Host %s",
  async (host) => {
    expect((await visit(await started(), undefined, { headers: { host } })).status).toBe(200);
  },
);

test.each([
  ["forwarded", "for=192.0.2.1"],
  ["via", "1.1 proxy"],
  ["x-forwarded-for", "192.0.2.1"],
  ["x-forwarded-host", "emulator.example.com"],
  ["x-forwarded-proto", "https"],
  ["x-real-ip", "192.0.2.1"],
])("the page refuses what a proxy on this machine forwards, with %s", async (name, value) => {
  const emulator = await started();
  for (const path of ["/", "/_emulator/", ...CAPTURE_PATHS])
    expect((await visit(emulator, path, { headers: { [name]: value } })).status).toBe(403);
  expect((await submit(emulator, "rotations", {}, { [name]: value })).status).toBe(403);
  const headers = { [name]: value, "x-api-key": emulator.apiKey };
  expect((await fetch(`${emulator.url}/webhooks`, { headers })).status).toBe(200);
});

test("the commands of the settings quote what a shell would run", async () => {
  const { body } = await visit(await started({ apiKey: "a b" }), undefined, {
    headers: { host: "a$(id).localhost" },
  });
  expect(body).toContain("baseUrl &#39;http://a$(id).localhost");
  expect(body).toContain("apiKey &#39;a b&#39;");
});

test.each([
  ["::1", "accepted"],
  ["127.0.0.1", "accepted"],
  ["::ffff:127.0.0.1", "accepted"],
  ["192.0.2.1", "refused"],
  ["::ffff:192.0.2.1", "refused"],
  [undefined, "refused"],
])("a connection from %s is %s", (remoteAddress, expected) => {
  const request = { method: "GET", headers: { host: "localhost" }, socket: { remoteAddress } };
  const refusal = refusalOf(request as unknown as IncomingMessage);
  expect(refusal === undefined ? "accepted" : "refused").toBe(expected);
});

test.each<[string, Record<string, string>]>([
  ["without an Origin", { origin: "" }],
  ["with a hidden Origin", { origin: "null" }],
  ["from another site", { origin: "https://evil.example" }],
  ["from another port of this machine", { origin: "http://127.0.0.1:1" }],
  ["from https", { origin: "https://127.0.0.1" }],
  ["that the browser calls cross-site", { "sec-fetch-site": "cross-site" }],
  ["that the browser calls same-site", { "sec-fetch-site": "same-site" }],
])("an action %s is refused and does nothing", async (_, headers) => {
  const emulator = await started();
  emulator.add({ ...HOOK, url: emulator.url });
  const { id: endpointId } = emulator.add({ ...HOOK, url: emulator.url });
  await emulator.deliver({ type: "job.running", endpointId, retryDelaysMs: [] });
  await visit(emulator, "/webhooks");
  const state = () =>
    [emulator.deliveries, emulator.requests, emulator.endpoints(), emulator.secrets()].map(
      (list) => list.length,
    );
  const before = state();
  const fields = {
    operation: "any",
    kind: "empty",
    times: "1",
    number: "1",
    endpointId,
    type: "production",
    url: "https://example.com",
  };
  for (const action of ACTIONS.keys()) {
    expect([action, (await submit(emulator, action, fields, headers)).status]).toEqual([action, 403]);
  }
  expect(state()).toEqual(before);
  expect((await visit(emulator)).body).toContain("works as it should");
});

test("an action from the page itself is performed", async () => {
  const emulator = await started();
  expect((await submit(emulator, "rotations", {}, { "sec-fetch-site": "same-origin" })).status).toBe(303);
  expect(emulator.secrets()).toHaveLength(2);
});

test("the page forbids inline scripts, foreign content, frames and caching", async () => {
  const { headers, body } = await visit(await started());
  expect(headers["content-security-policy"]).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self'/,
  );
  expect(headers["content-security-policy"]).toMatch(
    /form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
  );
  expect(headers).toMatchObject({
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
  });
  expect(body).not.toMatch(/<script>|<style|\son\w+=|\sstyle=/);
});
