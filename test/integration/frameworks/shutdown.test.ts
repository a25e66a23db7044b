import http from "node:http";
import http2 from "node:http2";
import { removeFolders, startApp } from "../../receiver/readme/app";
import { codeOf } from "../../receiver/readme/page";
import { delivered, secret } from "../../receiver/support";
import { type Program, programs, projectOf } from "./programs";

afterAll(removeFolders);

const HANDLER_MS = 300;
const receiver = `
import { createReceiver } from "pulumi-webhook-endpoints/receiver";
export const receiver = createReceiver({ secrets: "${secret}", handlers: {
  "job.succeeded": async () => {
    console.log("began");
    await new Promise((resolve) => setTimeout(resolve, ${HANDLER_MS}));
    console.log("done");
  },
} });`;

/** Makes a sender that keeps its connection as long as it can: it resolves with a status, or rejects. */
type Connect = (url: URL) => () => Promise<number>;

const overHttp: Connect = (url) => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  return () =>
    new Promise((resolve, reject) => {
      const { headers, body } = delivered();
      const request = http.request(url, { method: "POST", agent, headers }, (response) => {
        response.resume().on("end", () => resolve(response.statusCode ?? 0));
      });
      request.on("error", reject).end(body);
    });
};

const overHttp2: Connect = (url) => {
  let session: http2.ClientHttp2Session | undefined;
  return () =>
    new Promise((resolve, reject) => {
      if (session === undefined || session.closed || session.destroyed)
        session = http2.connect(url).on("error", () => {});
      const { headers, body } = delivered();
      const stream = session.request({ ":method": "POST", ":path": url.pathname, ...headers });
      let status = 0;
      stream.on("response", (answer) => (status = answer[":status"] ?? 0)).on("error", reject);
      stream.on("close", () =>
        status === 0 ? reject(new Error("There was no response.")) : resolve(status),
      );
      stream.resume().end(body);
    });
};

test.each<[string, Program | undefined, Connect]>([
  ["node:http", programs["node:http"], overHttp],
  ["http2", [codeOf("http2")], overHttp2],
  ["Fastify 5", programs["Fastify 5"], overHttp],
  ["Hono", programs.Hono, overHttp],
])(
  "at SIGTERM, the program of the page for %s ends although eight senders stay busy, and answers what it began",
  async (_name, program = [""], connect) => {
    const app = await startApp(projectOf(program, receiver), {});
    let isOver = false;
    const answers: number[] = [];
    const senders = Array.from({ length: 8 }, async () => {
      const post = connect(new URL(app.url));
      // Nobody listens any more, or the connection was closed before the server had read this request.
      const wait = () => new Promise<void>((resolve) => setTimeout(resolve, 50));
      while (!isOver) await post().then((status) => void answers.push(status), wait);
    });
    await app.written(/^done$/);
    const since = Date.now();
    await app.stop();
    expect(Date.now() - since).toBeLessThan(HANDLER_MS + 1000);
    isOver = true;
    await Promise.all(senders);
    const count = (line: string) => app.lines.filter((each) => each === line).length;
    expect(count("done")).toBe(count("began"));
    expect(answers).toEqual(Array(count("began")).fill(200));
  },
  20_000,
);
