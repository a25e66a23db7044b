import http from "node:http";
import { nodeHandler } from "../../../src/receiver/adapters/node";
import { express4, express5 } from "../../frameworks/modules";
import { listen, type Running } from "../../frameworks/servers";
import { delivered, receiverOf } from "../support";

const open: Running[] = [];
afterEach(() => Promise.all(open.splice(0).map((server) => server.close())));

/** What both versions have, as far as these tests use it. */
interface Express {
  (): http.RequestListener & {
    use(handler: unknown): void;
    post(path: string, ...handlers: unknown[]): void;
  };
  json(options?: object): unknown;
  raw(options?: object): unknown;
  text(options?: object): unknown;
}

const keepBytes = (request: http.IncomingMessage, _response: unknown, bytes: Buffer) => {
  Object.assign(request, { rawBody: bytes });
};

describe.each<[string, Express]>([
  ["Express 4", express4],
  ["Express 5", express5],
])("%s, when it has read the body:", (_name, express) => {
  async function serve({ before = [], route = [] }: { before?: unknown[]; route?: unknown[] }) {
    const handler = jest.fn();
    const made = receiverOf({ handlers: { "job.succeeded": handler } });
    const app = express();
    for (const middleware of before) app.use(middleware);
    app.post("/hooks", ...route, nodeHandler(made.receiver));
    const running = await listen(http.createServer(app));
    open.push(running);
    const post = async (type = "application/json") => {
      const { headers, body } = delivered();
      const response = await fetch(`http://127.0.0.1:${running.port}/hooks`, {
        method: "POST",
        headers: { ...headers, "content-type": type },
        body,
      });
      return { status: response.status, text: await response.text() };
    };
    return { ...made, handler, post };
  }

  test.each([
    ["express.json", () => express.json()],
    ["express.text", () => express.text({ type: "*/*" })],
  ])("%s before it leaves no bytes: 500, and a warning says what to change", async (_parser, parser) => {
    const warning = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
    const { post, rejections, handler } = await serve({ before: [parser()] });
    expect(await post()).toMatchObject({ status: 500 });
    expect(rejections).toMatchObject([
      { reason: "parsed-body", advice: expect.stringContaining("before app.use(express.json())") },
    ]);
    expect(handler).not.toHaveBeenCalled();
    warning.mockRestore();
  });

  test.each([
    ["express.raw on the route", () => ({ route: [express.raw({ type: "*/*" })] })],
    ["express.json that keeps the bytes", () => ({ before: [express.json({ verify: keepBytes })] })],
  ])("%s, as the advice says, mends it", async (_mended, middleware) => {
    const { post } = await serve(middleware());
    expect(await post()).toEqual({ status: 200, text: "handled" });
  });

  test("a parser of other types has left it alone", async () => {
    const { post } = await serve({ before: [express.json()] });
    expect(await post("application/octet-stream")).toEqual({ status: 200, text: "handled" });
  });
});
