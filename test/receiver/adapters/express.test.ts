import http from "node:http";
import { nodeHandler } from "../../../src/receiver/adapters/node";
import { express4, express5 } from "../../integration/frameworks/modules";
import { listen, type Running } from "../../integration/frameworks/servers";
import { delivered, receiverOf } from "../support";

const open: Running[] = [];
let warning: jest.SpyInstance;
beforeEach(() => {
  warning = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
});
afterEach(async () => {
  warning.mockRestore();
  await Promise.all(open.splice(0).map((server) => server.close()));
});

/** The parts that both versions have and that these tests use. */
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
])("in %s,", (_name, express) => {
  async function serve({ before = [], route = [] }: { before?: unknown[]; route?: unknown[] }) {
    const handler = jest.fn();
    const made = receiverOf({ handlers: { "job.succeeded": handler } });
    const app = express();
    for (const middleware of before) app.use(middleware);
    app.post("/hooks", ...route, nodeHandler(made.receiver));
    const running = await listen(http.createServer(app));
    open.push(running);
    /** Returns the status of the answer. */
    const post = async (type = "application/json") => {
      const { headers, body } = delivered();
      const response = await fetch(`http://127.0.0.1:${running.port}/hooks`, {
        method: "POST",
        headers: { ...headers, "content-type": type },
        body,
      });
      await response.text();
      return response.status;
    };
    return { ...made, handler, post };
  }

  test.each([
    ["express.json", () => express.json()],
    ["express.text", () => express.text({ type: "*/*" })],
  ])(
    "a body that %s parsed first is answered 500, and one warning says what to change",
    async (_parser, parser) => {
      const { post, rejections, handler } = await serve({ before: [parser()] });
      expect([await post(), await post()]).toEqual([500, 500]);
      const advice = expect.stringContaining("before app.use(express.json())");
      expect(rejections).toMatchObject([
        { reason: "parsed-body", advice },
        { reason: "parsed-body", advice },
      ]);
      expect(warning.mock.calls).toEqual([[advice, { code: "WEBHOOK_RECEIVER" }]]);
      expect(handler).not.toHaveBeenCalled();
    },
  );

  test.each([
    ["express.raw on the route", () => ({ route: [express.raw({ type: "*/*" })] })],
    ["express.json that keeps the bytes", () => ({ before: [express.json({ verify: keepBytes })] })],
  ])("%s, as the advice suggests, lets the delivery be verified", async (_remedy, middleware) => {
    const { post, handler } = await serve(middleware());
    expect(await post()).toBe(200);
    expect(handler).toHaveBeenCalledTimes(1);
    expect(warning).not.toHaveBeenCalled();
  });

  test("a parser of other content types does not touch the body", async () => {
    const { post, handler } = await serve({ before: [express.json()] });
    expect(await post("application/octet-stream")).toBe(200);
    expect(handler).toHaveBeenCalledTimes(1);
  });
});
