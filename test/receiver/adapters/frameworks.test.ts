import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { ReceiverOptions } from "../../../src/receiver";
import { frameworks, type Running } from "../../integration/frameworks/servers";
import { wrongSignatures } from "../../signature/support";
import { deferred, delivered, jobSucceeded, receiverOf } from "../support";
import { head, raw, startUpload } from "./wire";

const open: Running[] = [];
afterEach(() => Promise.all(open.splice(0).map((server) => server.close())));

interface ServerOptions extends Partial<ReceiverOptions> {
  readonly bodyTimeoutMs?: number;
}

describe.each(Object.entries(frameworks))("%s:", (framework, start) => {
  async function serve({ bodyTimeoutMs, ...options }: ServerOptions = {}) {
    const handler = jest.fn();
    const made = receiverOf({ handlers: { "job.succeeded": handler }, ...options });
    const running = await start({ receiver: made.receiver, bodyTimeoutMs });
    open.push(running);
    const { port } = running;
    const url = `http://127.0.0.1:${port}/hooks`;
    /** Returns the status of the answer. */
    const post = async ({ headers, body } = delivered(), more: Record<string, string> = {}) => {
      const all = { ...headers, "content-type": "application/json", ...more };
      const response = await fetch(url, { method: "POST", headers: all, body });
      await response.text();
      return response.status;
    };
    const isWell = async () => expect(await post()).toBe(200);
    const outcomes = () => made.outcomes.map(({ outcome }) => outcome);
    return { ...made, outcomes, handler, port, url, post, isWell };
  }

  test("a delivery is handled once, a copy is acknowledged, and a tampered one is refused", async () => {
    const { post, handler, outcomes, rejections } = await serve();
    const request = delivered();
    expect(await post(request)).toBe(200);
    expect(await post(request)).toBe(200);
    expect(outcomes()).toEqual(["handled", "duplicate"]);
    expect(await post({ ...request, body: Buffer.from("{}") })).toBe(401);
    expect(rejections).toMatchObject([{ reason: "signature-mismatch" }]);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test("a body that is neither JSON nor text is passed on byte for byte", async () => {
    const onUnhandled = jest.fn();
    const { post } = await serve({ onUnhandled });
    const body = Buffer.from([0xef, 0xbb, 0xbf, 0xff, 0xfe, 0x00, 0x7b, 0x0d, 0x0a, 0x20]);
    expect(await post(delivered({ body }))).toBe(200);
    expect(Buffer.from(onUnhandled.mock.calls[0]?.[0].rawBody)).toEqual(body);
  });

  test("a compressed body is verified as it was sent, and is never decompressed", async () => {
    const onUnhandled = jest.fn();
    const { post, handler, rejections } = await serve({ onUnhandled });
    const plain = delivered();
    const compressed = gzipSync(plain.body);
    const gzip = { "content-encoding": "gzip" };
    expect(await post(delivered({ body: compressed }), gzip)).toBe(200);
    expect(Buffer.from(onUnhandled.mock.calls[0]?.[0].rawBody)).toEqual(compressed);
    expect(await post({ ...plain, body: compressed }, gzip)).toBe(401);
    expect(rejections).toMatchObject([{ reason: "signature-mismatch" }]);
    expect(handler).not.toHaveBeenCalled();
  });

  test("a body that arrives in pieces is put together", async () => {
    const { port, handler } = await serve();
    const { headers, body } = delivered({ body: { ...jobSucceeded("job_1"), pad: "x".repeat(300) } });
    const length = String(body.length);
    const { socket, answer } = raw(port, head({ ...headers, "content-length": length, connection: "close" }));
    for (let at = 0; at < body.length; at += 50) {
      socket.write(body.subarray(at, at + 50));
      await sleep(2);
    }
    expect(await answer).toMatch(/^HTTP\/1.1 200 /);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test("a method other than POST is answered 405", async () => {
    const { url, isWell } = await serve();
    for (const method of ["GET", "PUT", "DELETE"]) {
      const response = await fetch(url, { method });
      expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
    }
    await isWell();
  });

  test("a body that claims to be too large is refused before it is read", async () => {
    const { port, isWell, rejections } = await serve({ maxBodyBytes: 1000 });
    const { socket, answer } = raw(port, head({ "content-length": "1001" }));
    await once(socket, "data");
    socket.end();
    expect(await answer).toMatch(/^HTTP\/1.1 413 /);
    expect(rejections).toMatchObject([{ reason: "size" }]);
    await isWell();
  });

  test("an endless body is refused at the limit, and its connection is closed", async () => {
    const { port, isWell, handler } = await serve({ maxBodyBytes: 100_000 });
    const { socket, answer } = raw(port, head({ "transfer-encoding": "chunked" }));
    const piece = `4000\r\n${"x".repeat(0x4000)}\r\n`;
    let sent = 0;
    while (!socket.destroyed && sent < 2 ** 30) {
      sent += piece.length;
      // Rejects once the connection is closed, as it should be.
      if (!socket.write(piece)) await Promise.race([once(socket, "drain").catch(() => {}), answer]);
      await sleep(1);
    }
    expect(await answer).toMatch(/^HTTP\/1.1 413 /);
    expect(handler).not.toHaveBeenCalled();
    await isWell();
  });

  test("a slow body is given up", async () => {
    const { port, isWell, rejections } = await serve({ bodyTimeoutMs: 50 });
    const { socket, answer } = raw(port, head({ "content-length": "10" }), "x");
    await once(socket, "data");
    socket.end();
    expect(await answer).toMatch(/^HTTP\/1.1 408 /);
    expect(rejections).toMatchObject([{ reason: "timeout", status: 408 }]);
    await isWell();
  });

  test("a truncated body is reported as aborted, and no handler is called", async () => {
    const refused = deferred<unknown>();
    const { port, isWell, handler } = await serve({ onRejected: refused.resolve });
    const { headers, body } = delivered();
    const { socket } = await startUpload(port, { ...headers, "content-length": String(body.length + 1) });
    socket.write(body, () => socket.destroy());
    expect(await refused.promise).toMatchObject({ reason: "aborted" });
    expect(handler).not.toHaveBeenCalled();
    await isWell();
  });

  test("a sender that leaves before the answer does not stop the handler", async () => {
    const [started, gate, done] = [deferred(), deferred(), deferred()];
    const handler = jest.fn(async () => {
      started.resolve();
      await gate.promise;
    });
    const { port, post } = await serve({
      handlers: { "job.succeeded": handler },
      onOutcome: () => done.resolve(),
    });
    const request = delivered();
    const length = String(request.body.length);
    const { socket } = raw(port, head({ ...request.headers, "content-length": length }), request.body);
    await started.promise;
    socket.destroy();
    gate.resolve();
    await done.promise;
    expect(await post(request)).toBe(200);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test("a header sent twice is refused, even if both values are equal", async () => {
    const { port, isWell, rejections, handler } = await serve();
    const { headers, body } = delivered();
    for (const [name, value] of Object.entries(headers)) {
      for (const second of [value, "other"]) {
        // Fetch joins both into one header, in which the second signature matches.
        if (name === "webhook-signature" && second === value && framework.startsWith("Hono")) continue;
        const doubled: [string, string][] = [...Object.entries(headers), [name.toUpperCase(), second]];
        const rest: [string, string][] = [
          ["content-length", String(body.length)],
          ["connection", "close"],
        ];
        const { answer } = raw(port, head([...doubled, ...rest]), body);
        expect(await answer).toMatch(/^HTTP\/1.1 401 /);
        expect(rejections.pop()?.reason).toBe(name.replace("webhook", "duplicate"));
      }
    }
    expect(handler).not.toHaveBeenCalled();
    await isWell();
  });

  test("headers and events named like a prototype's properties are treated like any other", async () => {
    const onUnhandled = jest.fn();
    const { port, isWell } = await serve({ onUnhandled });
    const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
    for (const type of names) {
      const { headers, body } = delivered({
        body: `{"type":"${type}","data":{"jobId":"j","__proto__":{"x":1}}}`,
      });
      const strange = [...names, ...names].map((name) => [name, "1"] as const);
      const rest = [
        ["content-length", String(body.length)],
        ["connection", "close"],
      ] as const;
      const { answer } = raw(port, head([...strange, ...Object.entries(headers), ...rest]), body);
      expect(await answer).toMatch(/^HTTP\/1.1 200 /);
    }
    expect(onUnhandled.mock.calls.map(([{ event }]) => event)).toEqual(names);
    expect(onUnhandled.mock.calls.map(([{ data }]) => data.x)).toEqual(names.map(() => undefined));
    await isWell();
  });

  test("a header of hundreds of wrong signatures is refused, and one of a thousand does not reach the receiver", async () => {
    const { post, port, isWell, handler } = await serve();
    const request = delivered();
    const rest = { ...request.headers, "webhook-signature": wrongSignatures(300) };
    expect(await post({ ...request, headers: rest })).toBe(401);
    // Node limits the headers of a request to 16 KiB.
    const { answer } = raw(port, head({ ...rest, "webhook-signature": wrongSignatures(1000) }));
    expect(await answer).toMatch(/^HTTP\/1.1 431 /);
    expect(handler).not.toHaveBeenCalled();
    await isWell();
  });

  test("one of fifty concurrent copies is handled; the others are answered 503, and a later one as a duplicate", async () => {
    const [gate, told] = [deferred(), deferred()];
    const outcomes: string[] = [];
    const handler = jest.fn(() => gate.promise);
    const { post } = await serve({
      handlers: { "job.succeeded": handler },
      onOutcome: ({ outcome }) => outcomes.push(outcome) === 49 && told.resolve(),
    });
    const request = delivered();
    const copies = Array.from({ length: 50 }, () => post(request));
    await told.promise;
    gate.resolve();
    expect((await Promise.all(copies)).sort()).toEqual([200, ...Array(49).fill(503)]);
    expect(await post(request)).toBe(200);
    expect(outcomes).toEqual([...Array(49).fill("held"), "handled", "duplicate"]);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test("a hundred stuck senders delay no other delivery, and are each answered 408", async () => {
    const { port, isWell, rejections } = await serve({ bodyTimeoutMs: 300 });
    const heads = [head({ "content-length": "10" }), head({ "transfer-encoding": "chunked" })];
    const stuck = Array.from({ length: 100 }, (_, i) => {
      const { socket, answer } = raw(port, heads[i % 2] ?? "", i % 4 < 2 ? "1" : "");
      socket.once("data", () => socket.end());
      return answer;
    });
    await isWell();
    const answers = await Promise.all(stuck);
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1.1 408 /);
    expect(rejections.map(({ reason }) => reason)).toEqual(Array(100).fill("timeout"));
    await isWell();
  });

  test("each of many concurrent deliveries is handled once", async () => {
    const { post, handler } = await serve();
    const requests = Array.from({ length: 10 }, (_, job) => delivered({ body: jobSucceeded(`job_${job}`) }));
    const copies = requests.flatMap((request) => [request, request, request]);
    const statuses = await Promise.all(copies.map((request) => post(request)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    const jobs = handler.mock.calls.map(([{ jobId }]) => jobId).sort();
    expect(jobs).toEqual(requests.map((_, job) => `job_${job}`).sort());
  });
});
