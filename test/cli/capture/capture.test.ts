import { choose, readCaptures } from "../../../src/cli/capture/capture";

const HEADERS = {
  "webhook-id": "msg_1",
  "webhook-timestamp": "1700000000",
  "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
};
const BODY = '{"type":"job.succeeded"}';
const entries = Object.entries(HEADERS);
const lines = entries.map(([name, value]) => `${name}: ${value}`).join("\r\n");
const cgi = (name: string) => `HTTP_${name.toUpperCase().replaceAll("-", "_")}`;
const log = (line: (entry: readonly [string, string]) => string) =>
  ["start: a", ...entries.map(line)].map((each) => `2026-01-01T00:00:00Z ${each}\n`).join("");
const har = (postData: object) => ({
  log: {
    entries: [
      { request: { headers: [{ name: "accept", value: "*/*" }] }, response: { headers: [] } },
      {
        request: { method: "POST", headers: entries.map(([name, value]) => ({ name, value })), postData },
        response: { headers: [{ name: "content-type", value: "text/plain" }] },
      },
    ],
  },
});

/** Reads a file of which nothing is left out. */
function read(file: string | Buffer) {
  const note = jest.fn();
  const captures = readCaptures(Buffer.from(file), note);
  expect(note).not.toHaveBeenCalled();
  return captures;
}

/** Returns the only capture in a file, with its headers as a record and its body as a string. */
function captureIn(file: string | Buffer) {
  const captures = read(file);
  expect(captures).toHaveLength(1);
  const [{ headers, body } = { headers: [], body: undefined }] = captures;
  return {
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
    body: body?.toString(),
  };
}

const whole: Readonly<Record<string, string | Buffer>> = {
  "a HAR file": JSON.stringify(har({ mimeType: "application/json", text: BODY })),
  "a HAR file with base64": JSON.stringify(
    har({ text: Buffer.from(BODY).toString("base64"), encoding: "base64" }),
  ),
  "an event of AWS Lambda": JSON.stringify({ headers: HEADERS, body: BODY, isBase64Encoded: false }),
  "an event of AWS Lambda with base64": JSON.stringify({
    multiValueHeaders: Object.fromEntries(entries.map(([name, value]) => [name, [value]])),
    headers: { "webhook-id": "joined" },
    body: Buffer.from(BODY).toString("base64"),
    isBase64Encoded: true,
  }),
  "an event of Lambda@Edge": JSON.stringify({
    Records: [
      {
        cf: {
          request: {
            headers: Object.fromEntries(entries.map(([key, value]) => [key, [{ key, value }]])),
            body: { action: "read-only", data: Buffer.from(BODY).toString("base64"), encoding: "base64" },
          },
        },
      },
    ],
  }),
  "an event of AWS Lambda with empty multiValueHeaders": JSON.stringify({
    ...{ multiValueHeaders: {}, rawHeaders: [], headers: HEADERS, body: BODY },
  }),
  "an export of Pipedream": JSON.stringify({ headers: Object.fromEntries(entries), body: {}, bodyRaw: BODY }),
  "an object with rawHeaders": JSON.stringify({ rawHeaders: entries.flat(), headers: {}, rawBody: BODY }),
  "a line of a log": JSON.stringify({
    level: 30,
    req: { method: "POST", headers: HEADERS, body: JSON.parse(BODY) },
  }),
  "an object with headers of its own around the request": JSON.stringify({
    headers: { "content-type": "application/json" },
    response: { headers: {} },
    request: { headers: HEADERS, body: BODY },
  }),
  "a Buffer printed as JSON": JSON.stringify({ headers: HEADERS, body: Buffer.from(BODY) }),
  "a request as text": `POST /jobs HTTP/1.1\r\nHost: a.example.com\r\n${lines}\r\n\r\n${BODY}`,
  "a request as text that an editor saved": `POST /jobs HTTP/1.1\nContent-Length: ${BODY.length}\n${lines}\n\n${BODY}\n`,
  "a request and its answer, as HTTPie prints them": `POST /jobs HTTP/1.1\nContent-Length: ${BODY.length}\n${lines.replaceAll("\r\n", "\n")}\n\n${BODY}\n\n\nHTTP/1.1 200 OK\nContent-Length: 2\n\nok\n`,
  "two requests of one connection": `POST /jobs HTTP/1.1\r\nContent-Length: ${BODY.length}\r\n${lines}\r\n\r\n${BODY}POST /jobs HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}`,
  "a request and its answer, as Wireshark saves a stream": `POST /jobs HTTP/1.1\r\nContent-Length: ${BODY.length}\r\n${lines}\r\n\r\n${BODY}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`,
  "a request in UTF-16, as PowerShell writes it": Buffer.from(
    `\uFEFFPOST /jobs HTTP/1.1\r\n${lines}\r\n\r\n${BODY}`,
    "utf16le",
  ),
  "a JSON string of a request as text": JSON.stringify(`POST /jobs HTTP/1.1\r\n${lines}\r\n\r\n${BODY}`),
  "a request in UTF-8 with a byte order mark": `\uFEFF${lines}\n\n${BODY}`,
};

test.each(Object.entries(whole))("%s is read with its headers and its body", (_what, file) => {
  const { headers, body } = captureIn(file);
  expect(headers).toMatchObject(HEADERS);
  expect(body).toBe(BODY);
});

test("a line of the body that begins like one of `curl -v` belongs to the body", () => {
  expect(captureIn(`POST /jobs HTTP/1.1\n${lines}\n\n> quoted\nx`).body).toBe("> quoted\nx");
});

test("each line of JSON is read, such as those of `listen --json --print`", () => {
  const records = [{ url: "http://127.0.0.1:1" }, { verified: true, headers: entries, body: BODY }];
  const { headers, body } = captureIn(`${records.map((each) => JSON.stringify(each)).join("\r\n")}\n`);
  expect([headers, body]).toEqual([HEADERS, BODY]);
});

test.each([
  ["with blank lines between", "\r\n\r\n", 0],
  ["with indents", "\n", 2],
  ["with indents, after a file without a newline at its end", "", 2],
])("several values of JSON are read %s", (_how, separator, indent) => {
  const value = JSON.stringify({ headers: entries, body: "}\n{" }, null, indent);
  expect(read(`${value}${separator}${value}\n`).map(({ body }) => body?.toString())).toEqual([
    "}\n{",
    "}\n{",
  ]);
});

test("a line of JSON that is cut off is left out, and that is said", () => {
  const line = JSON.stringify({ headers: entries, body: BODY });
  const note = jest.fn();
  const captures = readCaptures(
    Buffer.from(`${line}\n${line.slice(0, 60)}\n${line}\n${line.slice(0, -1)}`),
    note,
  );
  expect(captures).toHaveLength(2);
  expect(note.mock.calls).toEqual([[expect.stringMatching(/^Left out.*: 2 of the file's 4 values\.$/)]]);
});

describe("of several deliveries with one id", () => {
  const named = (timestamp: string, body: string) => ({
    headers: Object.entries({ ...HEADERS, "webhook-timestamp": timestamp }),
    body: Buffer.from(body),
  });
  test.each<[string, [string, string, string], string]>([
    ["the newest", ["1700000000", "1700000009", "1700000005"], "1"],
    ["the last of those with one timestamp", ["1700000009", "1700000000", "1700000009"], "2"],
    ["the last, if no timestamp can be read", ["x", "y", "z"], "2"],
  ])("%s is chosen, and how many there are is said", (_, timestamps, index) => {
    const captures = timestamps.map((timestamp, at) => named(timestamp, String(at)));
    for (const id of [undefined, "msg_1"]) {
      const notes: string[] = [];
      expect(choose(captures, id, (text) => notes.push(text)).body?.toString()).toBe(index);
      expect(notes).toEqual([expect.stringContaining("3 deliveries")]);
    }
  });

  test("nothing is said of a single one", () => {
    const note = jest.fn();
    choose([named("1", "a"), { headers: [["webhook-id", "msg_2"]] }], "msg_1", note);
    expect(note).not.toHaveBeenCalled();
  });
});

const headersOnly: Readonly<Record<string, string | Buffer>> = {
  "an object with headers": JSON.stringify({ headers: HEADERS }),
  "a list of rawHeaders": JSON.stringify(["Host", "a", ...entries.flat()]),
  "JSON of CGI names": JSON.stringify(Object.fromEntries(entries.map(([name, value]) => [cgi(name), value]))),
  "CGI variables": entries.map(([name, value]) => `${cgi(name)}=${value}`).join("\n"),
  "CGI variables of a shell": entries.map(([name, value]) => `declare -x ${cgi(name)}="${value}"`).join("\n"),
  "an array that PHP printed": `Array\n(\n${entries.map(([name, value]) => `    [${cgi(name)}] => ${value}`).join("\n")}\n)\n`,
  "a hash that Ruby printed": `{${entries.map(([name, value]) => `"${cgi(name)}"=>"${value}"`).join(", ")}}`,
  "a dict that Python printed": `{${entries.map(([name, value]) => `'${name}': '${value}'`).join(", ")}}`,
  "an object that Python printed on one line": `({${entries.map(([name, value]) => `'${name}': '${value}'`).join(", ")}})`,
  "a dict of lists that Python printed": `{${entries.map(([name, value]) => `'${name}': ['${value}']`).join(", ")}}`,
  "folded lines": entries.map(([name, value]) => `${name}:\r\n\t${value}`).join("\r\n"),
  "an object that Node.js printed on several lines": `{\n${entries.map(([name, value]) => `  '${name}':\n    '${value}',`).join("\n")}\n}`,
  "a hash that Ruby's pp printed": `{${entries.map(([name, value]) => `"${cgi(name)}" => "${value}"`).join(",\n ")}}\n`,
  "a dict that Python's pprint printed": `{${entries.map(([name, value]) => `'${name}': '${value}'`).join(",\n ")}}\n`,
  "all variables that PHP's print_r printed": `Array\n(\n${entries.map(([name, value]) => `    [${cgi(name)}] => ${value}\n    [REQUEST_URI] => /`).join("\n")}\n)\n`,
  "what PHP's var_dump printed": `array(4) {\n${entries.map(([name, value]) => `  ["${cgi(name)}"]=>\n  string(${value.length}) "${value}"\n  ["REQUEST_URI"]=>\n  string(1) "/"`).join("\n")}\n}\n`,
  "the headersDistinct that Node.js printed": `{\n${entries.map(([name, value]) => `  '${name}': [ '${value}' ]`).join(",\n")}\n}\n`,
  "the headersDistinct that Node.js printed on several lines": `{\n${entries.map(([name, value]) => `  '${name}': [\n    '${value}'\n  ]`).join(",\n")}\n}\n`,
  "the two lines that DevTools copies": `:authority:\na\n${entries.map(([name, value]) => `${name}:\n${value}`).join("\n")}\n`,
  "names and values on lines of their own": `accept\n*/*\n${entries.flat().join("\n")}\n`,
  "lists that PHP's var_dump printed": `array(4) {\n${entries.map(([name, value]) => `  ["${name}"]=>\n  array(1) {\n    [0]=>\n    string(${value.length}) "${value}"\n  }`).join("\n")}\n}\n`,
  "lists that PHP's print_r printed": `Array\n(\n${entries.map(([name, value]) => `    [${name}] => Array\n        (\n            [0] => ${value}\n        )\n`).join("\n")}\n)\n`,
  "the Headers that Python printed": `Headers({${entries.map(([name, value]) => `'${name}': '${value}'`).join(", ")}})\n`,
  "tuples that Python printed": `[${entries.map(([name, value]) => `('${name}', '${value}')`).join(", ")}]\n`,
  "tuples of bytes that Python printed": `[${entries.map(([name, value]) => `(b'${name}', b'${value}')`).join(",\n ")}]\n`,
  "the EnvironHeaders that Python printed": `EnvironHeaders([${entries.map(([name, value]) => `('${name}', '${value}')`).join(", ")}])\n`,
  "tuples that Elixir printed": `[\n${entries.map(([name, value]) => `  {"${name}", "${value}"}`).join(",\n")}\n]\n`,
  "the rawHeaders that Node.js printed": `[\n${entries.map(([name, value]) => `  '${name}',           '${value}'`).join(",\n")}\n]\n`,
  "lines in UTF-16, as PowerShell writes them": Buffer.from(`\uFEFF${lines}\r\n`, "utf16le"),
  "lines behind the time and the level of a log": log(([name, value]) => `INFO ${name}: ${value}`),
  "lines behind the time of a log, with the case of Go": log(
    ([name, value]) => `${name.replace("w", "W")}=${value}`,
  ),
  "an object that Python logged on one line": `INFO:root:{${entries.map(([name, value]) => `'${name}': '${value}', 'x-a': 'b'`).join(", ")}}`,
  "a map that Go printed": `map[Accept:[*/*] ${entries.map(([name, value]) => `${name}:[${value}]`).join(" ")} X-A:[b]]`,
  "the headers that Go's %#v printed": `http.Header{${entries.map(([name, value]) => `"${name}":[]string{"${value}"}`).join(", ")}, "X-A":[]string{"b"}}`,
  "a map of lists that Java printed": `{${entries.map(([name, value]) => `${name}=[${value}], x-a=[b]`).join(", ")}}`,
  "a map of strings that Java printed": `{${entries.map(([name, value]) => `${name}=${value}, x-a=b`).join(", ")}}\n`,
  "the HttpHeaders that Spring printed": `[${entries.map(([name, value]) => `${name}:"${value}", x-a:"b"`).join(", ")}]\n`,
  "the lines of a command of curl": `curl \\\n${entries.map(([name, value]) => `  -H '${name}: ${value}' \\\n`).join("")}  http://a.example.com\n`,
  "a JSON string of lines": JSON.stringify(lines),
  "a JSON object with lines as headers": JSON.stringify({ headers: `POST / HTTP/1.1\r\n${lines}` }),
  "JSON of names with _": JSON.stringify(
    Object.fromEntries(entries.map(([name, value]) => [name.replace("-", "_"), value])),
  ),
  "JSON of the variables of nginx": JSON.stringify(
    Object.fromEntries(entries.map(([name, value]) => [cgi(name).toLowerCase(), value])),
  ),
  "indented lines": entries.map(([name, value]) => `    ${name}: ${value}`).join("\n"),
};

test.each(Object.entries(headersOnly))("headers are read from %s", (_what, file) => {
  const { headers, body } = captureIn(file);
  expect(headers).toMatchObject(HEADERS);
  expect(body).toBeUndefined();
});

test("a header that quotes one of ours is not taken for it", () => {
  expect(read(`x-log: webhook-id: other\n${lines}`)[0]?.headers).toEqual([
    ["x-log", "webhook-id: other"],
    ...entries,
  ]);
});

test("of a header that is missing, the name in another header's value is not taken for it", () => {
  const [, ...rest] = entries;
  const file = `x-log: webhook-id: other\n${rest.map(([name, value]) => `${name}: ${value}`).join("\n")}\n`;
  expect(Object.keys(captureIn(file).headers)).toEqual(["x-log", "webhook-timestamp", "webhook-signature"]);
});

test("a folded value is joined with a space", () => {
  expect(captureIn("webhook-signature: v1,a\n  v1,b\n").headers).toEqual({
    "webhook-signature": "v1,a v1,b",
  });
});

test("a header that is null in JSON is missing", () => {
  expect(captureIn(JSON.stringify({ headers: { "webhook-id": null, "x-a": "b" } })).headers).toEqual({
    "x-a": "b",
  });
});

test("a header that was sent twice is there twice", () => {
  const [capture] = read(JSON.stringify({ rawHeaders: ["webhook-id", "a", "Webhook-Id", "b"] }));
  expect(capture?.headers).toHaveLength(2);
});

test("a header that Node.js and Python printed with two values has both", () => {
  const printed =
    "{\n  'webhook-id': [ 'a', 'b' ],\n  'webhook-signature': 'v1,a '\n                       'v1,b'}";
  expect(read(printed)[0]?.headers).toEqual([
    ["webhook-id", "a"],
    ["webhook-id", "b"],
    ["webhook-signature", "v1,a v1,b"],
  ]);
});

test("all deliveries of a file are found", () => {
  const log = [{ headers: HEADERS }, { headers: { ...HEADERS, "webhook-id": "msg_2" } }];
  expect(read(JSON.stringify(log))).toHaveLength(2);
});

test("a long text without a blank line has no body, and is read at once", () => {
  expect(captureIn(`${lines}\r\n${"x: y\n".repeat(200_000)}`).body).toBeUndefined();
});

test.each(['<a b="c" d="e">', '\\"', "'\\\\' ", '"   '])(
  "a long line of a log that begins like a list, with many %s, is read at once",
  (markup) => {
    const started = performance.now();
    const text = `[2026-11-23T19:00:00Z] POST /jobs ${markup.repeat(180_000 / markup.length)}\n`;
    expect(captureIn(text).body).toBeUndefined();
    expect(performance.now() - started).toBeLessThan(1000);
  },
);

test("the rawHeaders of a list may hold quotes of another kind, escaped quotes and backslashes", () => {
  const printed = String.raw`['x-a', "it's", 'x-b', 'a \'b\' "c"', 'x-c', '\\']`;
  expect(Object.keys(captureIn(printed).headers)).toEqual(["x-a", "x-b", "x-c"]);
});
