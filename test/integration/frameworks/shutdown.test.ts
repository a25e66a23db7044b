import http from "node:http";
import { read } from "../../package/pages";
import { removeFolders, startApp } from "../../receiver/readme/app";
import { snippetsOf } from "../../receiver/readme/snippets";
import { delivered, secret } from "../../receiver/support";

afterAll(removeFolders);

const snippets = snippetsOf(read("docs/receiving.md"));
const codeOf = (title: string) => snippets.find((snippet) => snippet.title === title)?.code ?? "";
const receiver = `
import { createReceiver } from "pulumi-webhook-endpoints/receiver";
export const receiver = createReceiver({ secrets: "${secret}", handlers: {
  "job.succeeded": async () => {
    console.log("began");
    await new Promise((resolve) => setTimeout(resolve, 300));
    console.log("done");
  },
} });`;

test.each([
  ["node:http", "node:http"],
  ["Fastify 5", "Fastify 4 or 5", "fastify"],
  ["Hono", "Hono", "hono", "@hono/node-server"],
])(
  "at SIGTERM, the program of the page for %s ends although eight senders stay busy, and answers what it began",
  async (_name, title, ...names) => {
    const packages = Object.fromEntries(names.map((name) => [name, `test/integration/node_modules/${name}`]));
    const app = await startApp({ files: { "app.ts": codeOf(title), "receiver.ts": receiver }, packages }, {});
    const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
    let isOver = false;
    const answers: number[] = [];
    const post = () =>
      new Promise<void>((resolve) => {
        const { headers, body } = delivered();
        const request = http.request(app.url, { method: "POST", agent, headers }, (response) => {
          answers.push(response.statusCode ?? 0);
          response.resume().on("end", resolve);
        });
        // Nobody listens any more, or the connection was closed before the server had read this request.
        request.on("error", () => setTimeout(resolve, 50)).end(body);
      });
    const senders = Array.from({ length: 8 }, async () => {
      while (!isOver) await post();
    });
    await app.written("done");
    const before = answers.length;
    await app.stop();
    isOver = true;
    await Promise.all(senders);
    agent.destroy();
    // What had begun, and what each sender had sent before it was told that its connection ends.
    expect(answers.length - before).toBeLessThanOrEqual(24);
    const count = (line: string) => app.lines.filter((each) => each === line).length;
    expect(count("done")).toBe(count("began"));
    expect(answers.filter((status) => status === 200)).toHaveLength(count("began"));
  },
  20_000,
);
