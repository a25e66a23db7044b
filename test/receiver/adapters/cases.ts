import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { delivered, jobSucceeded, secret } from "../support";
import { head, raw } from "./wire";

/** A server of the receiver of `RECORDER`. */
export interface Served {
  readonly port: number;
  /** Resolves with the next things that the receiver did. */
  next(count: number): Promise<string[]>;
}

/** The code of a receiver that writes down what it does, in lines that begin with "> ". */
export const RECORDER = `
import { createReceiver } from "pulumi-webhook-endpoints/receiver";

const write = (line) => console.log("> " + line);
export const receiver = createReceiver({
  secrets: ${JSON.stringify(secret)},
  maxBodyBytes: 1000,
  handlers: {
    "job.succeeded": ({ jobId, rawBody }) => write(jobId + " of " + rawBody.length),
    "job.running": async () => {
      globalThis.gc?.(); // what nobody holds does not count
      write(process.memoryUsage().rss);
      await new Promise((resolve) => setTimeout(resolve, 100));
    },
  },
  onUnhandled: ({ rawBody }) => write(Array.from(rawBody)),
  onOutcome: ({ outcome }) => write(outcome),
  onRejected: ({ reason }) => write(reason),
});`;

/** Returns a program whose adapter has little time for a body. */
export const inHaste = (code: string) =>
  code
    .replace(/(node|fetch)Handler\(receiver\b/, "$&, { bodyTimeoutMs: 400 }")
    .replace("fastifyPlugin, {", "$& bodyTimeoutMs: 400,");

type Delivery = Pick<ReturnType<typeof delivered>, "headers" | "body">;

/** Returns the status of the response. In pieces, the body has no length that a head could tell. */
export async function post(
  { port }: Pick<Served, "port">,
  { headers, body }: Delivery,
  { inPieces = false, more = {} } = {},
): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/jobs`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json", ...more },
    body: inPieces ? Readable.from([body.subarray(0, 1), body.subarray(1)]) : body,
    duplex: "half",
  });
  await response.text();
  return response.status;
}

/** Sends a request by hand. Returns the status of the response, or 0 if the connection ends before one. */
async function send(
  { port }: Pick<Served, "port">,
  headers: readonly (readonly [string, string])[],
  body: Buffer | string,
  { ends = false } = {},
): Promise<number> {
  const { socket, response } = raw(port, head([...headers, ["content-type", "application/json"]]), body);
  if (ends) socket.destroySoon();
  else socket.once("data", () => socket.end());
  const [, status = "0"] = /^HTTP\/1.1 (\d+)/.exec(await response) ?? [];
  return Number(status);
}

const body = Buffer.from(JSON.stringify(jobSucceeded("job_1")));
const marked = Buffer.from(`\uFEFF${body}`);
const odd = Buffer.from([0xef, 0xbb, 0xbf, 0xff, 0xfe, 0x00, 0x7b, 0x0d, 0x0a, 0x20]);
const compressed = gzipSync(body);
const genuine = delivered({ body });
const signedByTwo = delivered({ body });
const long = Buffer.alloc(1001);

/** Sends a delivery with a header twice. */
function twice(app: Served, name: string): Promise<number> {
  const { headers, body } = delivered();
  const pairs = Object.entries({ ...headers, "content-length": `${body.length}` });
  return send(app, [...pairs, [name.toUpperCase(), "other"]], body);
}

/** Sends a delivery with two signatures, of which the second is its own. */
function signedTwice(app: Served): Promise<number> {
  const pairs = Object.entries({ ...signedByTwo.headers, "content-length": `${signedByTwo.body.length}` });
  return send(app, [["Webhook-Signature", "v1,other"], ...pairs], signedByTwo.body);
}

interface Case {
  readonly send: (app: Served) => Promise<number>;
  /** 0 if the connection ends before a response. */
  readonly status: number;
  /** What the receiver does. */
  readonly did: readonly string[];
}

/** What each adapter does on each platform. One after the other: the second delivery is the first once more. */
export const cases: Readonly<Record<string, Case>> = {
  genuine: {
    send: (app) => post(app, genuine),
    status: 200,
    did: [`job_1 of ${body.length}`, "handled"],
  },
  "sent again": {
    send: (app) => post(app, genuine),
    status: 200,
    did: ["duplicate"],
  },
  forged: {
    send: (app) => post(app, { ...delivered(), body: marked }),
    status: 401,
    did: ["signature-mismatch"],
  },
  old: {
    send: (app) => post(app, delivered({ at: Date.now() - 3_600_000 })),
    status: 401,
    did: ["timestamp-too-old"],
  },
  "too large": {
    send: (app) => post(app, delivered({ body: long })),
    status: 413,
    did: ["size"],
  },
  "too large, and doesn't say so": {
    send: (app) => post(app, delivered({ body: long }), { inPieces: true }),
    status: 413,
    did: ["size"],
  },
  "too slow": {
    send: (app) => send(app, [["content-length", "10"]], "x"),
    status: 408,
    did: ["incomplete-body"],
  },
  "broken off": {
    send: (app) => send(app, [["content-length", "10"]], "x", { ends: true }),
    status: 0,
    did: ["incomplete-body"],
  },
  "begun with a byte order mark": {
    send: (app) => post(app, delivered({ body: marked })),
    status: 200,
    did: [`job_1 of ${marked.length}`, "handled"],
  },
  "neither JSON nor text": {
    send: (app) => post(app, delivered({ body: odd })),
    status: 200,
    did: [String([...odd]), "handled"],
  },
  compressed: {
    send: (app) => post(app, delivered({ body: compressed }), { more: { "content-encoding": "gzip" } }),
    status: 200,
    did: [String([...compressed]), "handled"],
  },
  "sent with two ids": { send: (app) => twice(app, "webhook-id"), status: 401, did: ["malformed-id"] },
  "sent with two times": {
    send: (app) => twice(app, "webhook-timestamp"),
    status: 401,
    did: ["malformed-timestamp"],
  },
  "sent with two signatures": {
    send: signedTwice,
    status: 200,
    did: [`job_1 of ${body.length}`, "handled"],
  },
};
