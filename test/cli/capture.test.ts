import { join } from "node:path";
import * as fc from "fast-check";
import { deliveryHeaders, readCapture, shareableHeaders } from "../../src/cli/capture";
import { captureFile } from "../../src/shared/captureFile";
import { makeFolder } from "./running";

const HEADERS = [
  ["webhook-id", "msg_1"],
  ["webhook-timestamp", "1795253400"],
] as const;

async function read(content: string | Uint8Array) {
  return readCapture(join(makeFolder({ "file.txt": content }), "file.txt"));
}

test.each([
  ["an object of headers", { headers: Object.fromEntries(HEADERS), body: "{}" }],
  ["pairs of headers", { headers: HEADERS, body: "{}" }],
  ["a base64 body, as an event of AWS Lambda", { headers: HEADERS, body: "e30=", isBase64Encoded: true }],
])("a capture is read from JSON with %s", async (_what, json) => {
  const capture = await read(`\uFEFF${JSON.stringify(json)}`);
  expect(capture).toEqual({ headers: HEADERS.map((pair) => [...pair]), body: Buffer.from("{}") });
});

test("a header that JSON has twice is there twice", async () => {
  const { headers } = await read(JSON.stringify({ headers: { "webhook-id": ["a", "b"] }, body: "" }));
  expect(headers).toEqual([
    ["webhook-id", "a"],
    ["webhook-id", "b"],
  ]);
});

test.each([
  ["\n", "{}"],
  ["\r\n", "{}"],
  ["\n", '\uFEFF{\n\n"a": "\u00e9"}\r\n'],
])("a capture is read from a request with the line end %j", async (end, body) => {
  const head = ["POST /jobs HTTP/1.1", "Webhook-Id: msg_1", "webhook-timestamp:1795253400 "].join(end);
  const capture = await read(head + end + end + body);
  expect(capture.headers).toEqual([
    ["Webhook-Id", "msg_1"],
    ["webhook-timestamp", "1795253400"],
  ]);
  expect(capture.body.toString()).toBe(body);
});

test("a file without headers, or one that cannot be read, is an error that names it", async () => {
  await expect(read("just text")).rejects.toMatchObject({ code: "CAPTURE_INVALID" });
  await expect(read("[1]")).rejects.toThrow(/file\.txt holds no headers/);
  const utf16 = Buffer.from("\uFEFFwebhook-id: msg_1\r\n\r\n{}", "utf16le");
  await expect(read(utf16)).rejects.toThrow(/file\.txt is in UTF-16.*\(CAPTURE_INVALID\)/);
  await expect(readCapture("/nowhere/x")).rejects.toThrow(/\/nowhere\/x \(ENOENT\) \(FILE_UNREADABLE\)/);
});

test("only the headers of a delivery are sent on, with each value", () => {
  const given = [...HEADERS, ["Webhook-Id", "msg_2"], ["cookie", "c"], ["content-type", "a/b"]] as const;
  expect(deliveryHeaders(given)).toEqual({
    "webhook-id": ["msg_1", "msg_2"],
    "webhook-timestamp": ["1795253400"],
    "content-type": ["a/b"],
  });
});

test("what listen and the page save is read again byte for byte, without the headers that may hold a credential", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 40 }), async (bytes) => {
      const headers = shareableHeaders([...HEADERS, ["authorization", "x"]]);
      const body = Buffer.from(bytes);
      expect(await read(captureFile({ at: 1795253400123, headers, body }))).toEqual({
        headers: HEADERS.map((pair) => [...pair]),
        body,
        receivedAt: 1795253400,
      });
    }),
    { numRuns: 30 },
  );
});
