import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { html } from "../../../src/emulator/page/html";
import { pageHandler } from "../../../src/emulator/page/server";
import type { PageSource, ShownAttempt } from "../../../src/emulator/page/source";
import { sign, verify } from "../../../src/signature";

const SECRET = `whsec_${Buffer.from("a secret of thirty-two bytes: AA").toString("base64")}`;
const BODY = Buffer.from([0xff, 0x00, 0x7b]);

/** A delivery that something else than the emulator received: bytes that are not UTF-8. */
const RECEIVED: ShownAttempt = {
  number: 1,
  at: 0,
  id: "msg_1",
  type: "unknown",
  endpointId: "target",
  url: "http://127.0.0.1:8080/jobs",
  attempt: 1,
  tampered: false,
  replayed: false,
  headers: {
    ...sign({ id: "msg_1", timestamp: 1, body: BODY, secret: SECRET }),
    "content-type": "application/cbor",
  },
  body: BODY,
  statusCode: 200,
  error: null,
  answer: "",
  answerHeaders: {},
  durationMs: 3,
  retryInMs: null,
};

let url: string;
let stop: () => void;

beforeEach(async () => {
  const source: PageSource = {
    title: "Webhook listener",
    emptyHint: "Nothing arrived yet.",
    now: () => 0,
    logged: () => [RECEIVED],
    open: () => [],
    endpoints: () => new Map(),
    toolbar: html``,
    sections: () => [],
    actions: new Map(),
  };
  const server = createServer(pageHandler(source, "/_listen/"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/_listen/`;
  stop = () => {
    server.close();
    server.closeAllConnections();
  };
});
afterEach(() => stop());

test("another source of deliveries has the same page at its own path, without the actions that it does not have", async () => {
  const page = await (await fetch(url)).text();
  expect(page).toMatch(/<h1>Webhook listener<\/h1>.*1 in total.*3 bytes that are not UTF-8.*ff007b/s);
  expect(page).not.toContain("Copy the body");
  expect(page).not.toMatch(/<button(?! class="scriptless")|_emulator/);
  for (const asset of ["script.js", "style.css", "icon.svg"])
    expect((await fetch(url + asset)).status).toBe(200);
});

test("a delivery that is not UTF-8 is saved and copied byte for byte", async () => {
  const saved = await (await fetch(`${url}attempts/1/capture`)).json();
  const { headers, body, isBase64Encoded } = saved as {
    headers: [string, string][];
    body: string;
    isBase64Encoded: true;
  };
  expect(isBase64Encoded).toBe(true);
  expect(verify(Buffer.from(body, "base64"), headers, SECRET, 0)).toBe(true);
  expect(headers).toContainEqual(["content-type", "application/cbor"]);
  expect(Buffer.from(await (await fetch(`${url}attempts/1/body`)).arrayBuffer())).toEqual(BODY);
  expect(await (await fetch(`${url}attempts/1/curl`)).text()).toMatch(
    /^printf %s '\/wB7' \| base64 --decode \| curl/,
  );
});
