import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import type { HeaderPair } from "../../../src/cli/capture/headerPair";
import { diagnose } from "../../../src/cli/verify/diagnosis";
import { sign } from "../../../src/signature";
import { type Delivery, diagnosisOf, NOW, OPTIONS, SECRET, TEXT } from "./diagnosing";

const FIELDS = JSON.parse(TEXT);
/** Escapes a JSON text outside ASCII, as `\uXXXX`. */
const escaped = (text: string, pattern: RegExp, { upper = false } = {}) =>
  text.replace(pattern, (character) => {
    const digits = character.charCodeAt(0).toString(16).padStart(4, "0");
    return `\\u${upper ? digits.toUpperCase() : digits}`;
  });
/** What System.Text.Json writes of `TEXT`. */
const DOTNET = escaped(TEXT.replace('\\"', "\\u0022"), /[<>&'+\u0080-\uffff]/g, { upper: true });
/** What PHP's json_encode writes of `TEXT`. */
const PHP = escaped(TEXT.replaceAll("/", "\\/"), /[\u0080-\uffff]/g);
const utf16 = (text: string) => Buffer.from(text, "utf16le");

const reserialized: Readonly<Record<string, readonly [signed: string, body: string]>> = {
  "whole numbers that were written as 1.0": ['{"a":1.0,"b":20.0}', '{"a":1,"b":20}'],
  "a number 1.0 among whole numbers": ['{"a":1.0,"n":3,"b":7}', '{"a":1,"n":3,"b":7}'],
  "prices of two decimals among counts": ['{"price": 9.50, "count": 3}', '{"price":9.5,"count":3}'],
  "numbers that a parser wrote as 1.0": ['{"a":1,"b":2.5}', '{"a":1.0,"b":2.5}'],
  "numbers that Python wrote": ['{"a":1e+16,"b":1e-05}', '{"a":10000000000000000.0,"b":0.00001}'],
  "numbers that Java wrote": ['{"a":1.0E10,"b":0.5}', '{"a":1.0e10,"b":0.5}'],
  "large whole numbers that Java wrote": [
    '{"at":1.795253400123E12,"n":1.2E7,"a":3,"b":4,"c":5,"d":6,"e":7,"f":8}',
    '{"at":1795253400123,"n":12000000,"a":3,"b":4,"c":5,"d":6,"e":7,"f":8}',
  ],
  "whole numbers that Gson wrote": ['{"n":1.2E7,"a":3.0}', '{"n":12000000,"a":3}'],
  "a large whole number that Java wrote beside a timestamp": [
    '{"n":1.2E7,"at":1795253400123}',
    '{"n":12000000,"at":1795253400123}',
  ],
  "a large whole number that Python wrote": ['{"n": 1e+16}', '{"n":10000000000000000}'],
  "the escapes of .NET": [DOTNET, TEXT],
  "the escapes of .NET, indented on Windows": [
    JSON.stringify({ a: "ö+<" }, null, 2).replaceAll("\n", "\r\n").replace("ö+<", "\\u00F6\\u002B\\u003C"),
    '{"a":"ö+<"}',
  ],
  "JSON that Jackson's pretty printer wrote": [
    '{\n  "type" : "job.failed",\n  "data" : {\n    "tags" : [ 1, {\n      "a" : [ ]\n    } ],\n    "none" : { }\n  }\n}',
    '{"type":"job.failed","data":{"tags":[1,{"a":[]}],"none":{}}}',
  ],
  "the escapes of PHP": [PHP, TEXT],
  "the escapes of PHP, after .NET": [PHP, DOTNET],
  "the escapes of Newtonsoft.Json": [
    escaped(TEXT.replace('\\"', "\\u0022"), /[<>&']/g),
    JSON.stringify(FIELDS, null, 1),
  ],
  "the escapes of Gson": [escaped(TEXT, /[<>&']/g), JSON.stringify(FIELDS)],
};

test.each(Object.entries(reserialized))("verify finds %s", (_what, [signed, body]) => {
  expect(diagnosisOf({ signed, body })).toMatchObject({ reason: "body-reserialized" });
});

const bytes = Buffer.from(TEXT);
const hex = bytes.toString("hex");
const nginx = (character: string) =>
  Buffer.from(character).toString("hex").toUpperCase().replace(/../g, "\\x$&");
const lambda = (body: string, more = {}) => JSON.stringify({ version: "2.0", body, ...more });
const causes: Readonly<Record<string, readonly [reason: string, finding: RegExp, delivery: Delivery]>> = {
  "UTF-16 with a byte order mark": [
    "encoding-changed",
    /this body in UTF-8; it is in UTF-16/,
    { signed: TEXT, body: utf16(`\uFEFF${TEXT}`) },
  ],
  "UTF-16 with the line end of PowerShell": [
    "encoding-changed",
    /it is in UTF-16 without the newline/,
    { signed: TEXT, body: utf16(`\uFEFF${TEXT}\r\n`) },
  ],
  "big-endian UTF-16": ["encoding-changed", /UTF-16/, { signed: TEXT, body: utf16(TEXT).swap16() }],
  "a signature over UTF-16": [
    "encoding-changed",
    /signed this body in UTF-16/,
    { signed: utf16(TEXT), body: TEXT },
  ],
  "Windows-1252 that was read as UTF-8": [
    "encoding-changed",
    /read as Windows-1252/,
    { signed: '{"a":"€"}', body: '{"a":"\u00e2\u201a\u00ac"}' },
  ],
  "a body in Windows-1252": [
    "encoding-changed",
    /this body in UTF-8; it is in Windows-1252/,
    { signed: '{"a":"€"}', body: Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0x80, 0x22, 0x7d]) },
  ],
  "a body compressed with gzip": ["body-compressed", /with gzip/, { signed: TEXT, body: gzipSync(TEXT) }],
  "a body compressed with deflate": [
    "body-compressed",
    /with deflate/,
    { signed: TEXT, body: deflateSync(TEXT) },
  ],
  "a body compressed with deflate without the header of zlib": [
    "body-compressed",
    /with deflate/,
    { signed: TEXT, body: deflateRawSync(TEXT) },
  ],
  "a body compressed with Brotli": [
    "body-compressed",
    /with Brotli/,
    { signed: TEXT, body: brotliCompressSync(TEXT) },
  ],
  "a body that was decompressed": [
    "body-decompressed",
    /this body compressed with gzip/,
    { signed: gzipSync(TEXT), body: TEXT, headers: [["Content-Encoding", "gzip"]] },
  ],
  "event.body as a JSON string": [
    "body-json-string",
    /the string that this body holds as JSON/,
    { signed: TEXT, body: JSON.stringify(TEXT) },
  ],
  "a JSON string that lost its quotes": [
    "body-json-string",
    /string/,
    { signed: TEXT, body: JSON.stringify(TEXT).slice(1, -1) },
  ],
  "base64 of the body": [
    "body-base64",
    /base64/,
    { signed: TEXT, body: Buffer.from(TEXT).toString("base64") },
  ],
  "base64 of the body on several lines, of other JSON": [
    "body-base64",
    /compact JSON, .*, of the bytes that this body holds as base64/,
    {
      signed: TEXT,
      body: Buffer.from(JSON.stringify(FIELDS, null, 3))
        .toString("base64")
        .replace(/.{76}/g, "$&\r\n"),
    },
  ],
  "base64 in a JSON string": [
    "body-json-string",
    /base64/,
    { signed: TEXT, body: JSON.stringify(Buffer.from(TEXT).toString("base64")) },
  ],
  "a Buffer printed as JSON": [
    "body-printed",
    /shows as text/,
    { signed: TEXT, body: JSON.stringify(Buffer.from(TEXT), null, 2) },
  ],
  "a Uint8Array printed as JSON": [
    "body-printed",
    /text/,
    { signed: TEXT, body: JSON.stringify(new Uint8Array(Buffer.from(TEXT))) },
  ],
  "JSON in HTML, as Python's html.escape writes it": [
    "body-printed",
    /text/,
    { signed: '{"a":"it\'s </b>"}', body: "{&quot;a&quot;:&quot;it&#x27;s &lt;&#x2F;b&gt;&quot;}" },
  ],
  "an emoji in HTML": [
    "body-printed",
    /text/,
    { signed: '{"a":"🎉"}', body: "{&quot;a&quot;:&quot;&#127881;&quot;}" },
  ],
  "an empty object that PHP wrote as a list": [
    "body-reserialized",
    /with \{\} for an empty list, as PHP/,
    {
      signed: '{"tags":[],"output":{},"url":"https://a/b"}',
      body: '{"tags":[],"output":[],"url":"https:\\/\\/a\\/b"}',
    },
  ],
  "a time that Newtonsoft.Json wrote again": [
    "body-reserialized",
    /times written in another way/,
    { signed: '{"timestamp":"2026-01-31T10:00:00.120Z"}', body: '{"timestamp":"2026-01-31T10:00:00.12Z"}' },
  ],
  "a time that pydantic wrote again": [
    "body-reserialized",
    /times written in another way/,
    {
      signed: '{"timestamp":"2026-01-31T10:00:00.120Z"}',
      body: '{"timestamp":"2026-01-31T10:00:00.120000Z"}',
    },
  ],
  "a Buffer as Node.js prints it": ["body-printed", /text/, { signed: "{}", body: "<Buffer 7b 7d>" }],
  "bytes as Python prints them": [
    "body-printed",
    /text/,
    { signed: '{"a":"ö\'"}', body: 'b\'{"a":"\\xc3\\xb6\\\'"}\'' },
  ],
  "a body in hexadecimal": [
    "body-printed",
    /text/,
    { signed: TEXT, body: Buffer.from(TEXT).toString("hex") },
  ],
  "bytes as Go prints them": ["body-printed", /text/, { signed: TEXT, body: `[${bytes.join(" ")}]` }],
  "bytes as Java prints them": [
    "body-printed",
    /text/,
    { signed: TEXT, body: `[${new Int8Array(bytes).join(", ")}]` },
  ],
  "a body as a table of CSV has it": [
    "body-printed",
    /text/,
    { signed: TEXT, body: `"${TEXT.replaceAll('"', '""')}"` },
  ],
  "bytes as C escapes them": ["body-printed", /text/, { signed: TEXT, body: hex.replace(/../g, "\\x$&") }],
  "a body as nginx logs it": [
    "body-printed",
    /text/,
    { signed: TEXT, body: TEXT.replace(/["\\]|[\u0080-\uffff]/g, nginx) },
  ],
  "hexadecimal numbers": ["body-printed", /text/, { signed: TEXT, body: hex.replace(/../g, "0x$& ") }],
  "hexadecimal numbers in a slice of Go": [
    "body-printed",
    /text/,
    { signed: TEXT, body: `[]byte{${hex.replace(/../g, "0x$&, ")}}` },
  ],
  "a hexadecimal number": ["body-printed", /text/, { signed: TEXT, body: `0x${hex}\n` }],
  "hexadecimal digits as .NET prints them": [
    "body-printed",
    /text/,
    { signed: TEXT, body: hex.toUpperCase().replace(/..(?!$)/g, "$&-") },
  ],
  "a body that is encoded as a url": [
    "body-printed",
    /text/,
    { signed: TEXT, body: encodeURIComponent(TEXT).replaceAll("%20", "+") },
  ],
  "a field of a form": [
    "body-printed",
    /text/,
    { signed: TEXT, body: `payload=${encodeURIComponent(TEXT)}` },
  ],
  "a body that is escaped for HTML": [
    "body-printed",
    /text/,
    {
      signed: '{"a":"<\'&amp;>"}',
      body: "{&quot;a&quot;:&quot;&lt;&#039;&amp;amp;&gt;&quot;}",
    },
  ],
  "a url of data": [
    "body-base64",
    /base64/,
    { signed: TEXT, body: `data:application/json;base64,${Buffer.from(TEXT).toString("base64")}` },
  ],
  "an event of AWS Lambda": ["body-wrapped", /the field body/, { signed: TEXT, body: lambda(TEXT) }],
  "an event of AWS Lambda with base64": [
    "body-wrapped",
    /the field body/,
    { signed: TEXT, body: lambda(Buffer.from(TEXT).toString("base64"), { isBase64Encoded: true }) },
  ],
  "a body that a mapping template wrapped": [
    "body-wrapped",
    /the field payload/,
    { signed: TEXT, body: `{"payload": ${JSON.stringify(FIELDS, null, 2)}}` },
  ],
  "a message of SQS in an event of AWS Lambda": [
    "body-wrapped",
    /the field Records\[1\]\.body of this body/,
    { signed: TEXT, body: JSON.stringify({ Records: [{ body: "{}" }, { messageId: "1", body: TEXT }] }) },
  ],
  "a push of Google Pub/Sub": [
    "body-wrapped",
    /the bytes that the field message\.data of this body holds as base64/,
    { signed: TEXT, body: JSON.stringify({ message: { data: Buffer.from(TEXT).toString("base64") } }) },
  ],
  "a record of Kinesis in an event of AWS Lambda": [
    "body-wrapped",
    /the field Records\[0\]\.kinesis\.data of/,
    {
      signed: TEXT,
      body: JSON.stringify({ Records: [{ kinesis: { data: Buffer.from(TEXT).toString("base64") } }] }),
    },
  ],
  "an event in a list, as Azure Event Grid sends it": [
    "body-wrapped",
    /the field \[0\] of this body/,
    { signed: TEXT, body: JSON.stringify([{ id: "1", data: FIELDS }]) },
  ],
  "white space that was added": [
    "newline-added",
    /white space around it/,
    { signed: TEXT, body: `\n  ${TEXT} \n` },
  ],
};

test.each(Object.entries(causes))("verify finds %s", (_what, [reason, finding, delivery]) => {
  const diagnosis = diagnosisOf(delivery);
  expect(diagnosis).toMatchObject({ verified: false, reason, finding: expect.stringMatching(finding) });
});

const hints: Readonly<Record<string, readonly [hint: RegExp, body: string, headers: readonly HeaderPair[]]>> =
  {
    "a body that is shorter than the headers say": [
      /says 90 bytes, and this body has 2,/,
      "{}",
      [["Content-Length", "90"]],
    ],
    "a compressed body that is lost": [
      /decompressed|not: if the sender/,
      TEXT,
      [["content-encoding", "zstd, gzip"]],
    ],
    "characters that were lost": [/its bytes are lost/, '{"a":"\uFFFD"}', []],
    "question marks for characters": [/question marks.*its bytes are lost/, '{"name":"Zo??"}', []],
    "JSON that is cut off": [/may be cut off/, TEXT.slice(0, 40), []],
    "a masked secret": [/was masked.*listen --save/, '{"note":"whsec_…"}', []],
    "an empty body": [/is empty/, "", []],
    "a printed object": [/printed/, "[object Object]", []],
    "an object as Node.js prints it": [
      /printed/,
      "{\n  type: 'job.succeeded',\n  data: { jobId: 'job_1' }\n}",
      [],
    ],
    "a dict as Python prints it": [/printed/, "{'type': 'job.succeeded', 'data': {'jobId': 'job_1'}}", []],
    "a hash as Ruby prints it": [/printed/, '{"type"=>"job.succeeded", "data"=>{"jobId"=>"job_1"}}', []],
    "a list as Node.js prints it": [/printed/, "[ { type: 'job.succeeded' } ]", []],
    "a map as Java prints it": [/printed/, "{type=job.succeeded, data={jobId=job_1}}", []],
    "the sizes of chunks": [
      /size of a chunk/,
      '7\r\n{"a":1}\r\n0\r\n\r\n',
      [["Transfer-Encoding", "chunked"]],
    ],
  };

test.each(Object.entries(hints))("verify says what is conspicuous: %s", (_what, [hint, body, headers]) => {
  const diagnosis = diagnosisOf({ signed: "other", body, headers });
  expect(diagnosis).toMatchObject({ reason: "wrong-secret", finding: expect.stringMatching(hint) });
});

test("verify does not call bytes cut off that a program printed", () => {
  const finding = expect.not.stringContaining("cut off");
  expect(diagnosisOf({ signed: "other", body: `[${bytes.join(" ")}]` })).toMatchObject({ finding });
});

test.each([gzipSync(TEXT), Buffer.from("ö", "latin1")])(
  "verify does not call bytes lost that are no text",
  (body) => {
    const diagnosis = diagnosisOf({ signed: "other", body });
    expect(diagnosis).toMatchObject({ reason: "wrong-secret", finding: expect.not.stringContaining("lost") });
  },
);

test.each([
  ["milliseconds", 1e3],
  ["microseconds", 1e6],
])("verify says that a timestamp is in %s", (unit, factor) => {
  const headers = Object.entries(sign({ id: "msg_1", timestamp: NOW * factor, body: TEXT, secret: SECRET }));
  expect(diagnose({ ...OPTIONS, body: Buffer.from(TEXT), headers, seconds: 1 })).toMatchObject({
    reason: "timestamp-in-milliseconds",
    finding: expect.stringMatching(`is in ${unit}, not in seconds`),
  });
});

test.each(["array(1) {", "array (", "array:1 [", "['msg 1'", "[object Object]"])(
  "verify does not blame another program for a header that a program printed as %s",
  (printed) => {
    const sent = {
      ...sign({ id: "msg_1", timestamp: NOW, body: TEXT, secret: SECRET }),
      "webhook-id": printed,
    };
    const headers = Object.entries(sent);
    expect(diagnose({ ...OPTIONS, body: Buffer.from(TEXT), headers, seconds: 1 })).toMatchObject({
      reason: "malformed-id",
      advice: expect.stringMatching(/^Write one header on each line/),
    });
  },
);
