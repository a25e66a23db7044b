import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import http from "node:http";
import { join, resolve } from "node:path";
import { json } from "node:stream/consumers";
import { promisify } from "node:util";
import * as ts from "typescript";
import type { Rejection } from "../../src/receiver";
import { nodeHandler } from "../../src/receiver/adapters/node";
import { listen, type Running } from "../frameworks/servers";
import { makeFolder, removeFolders } from "./readme/app";
import { delivered, receiverOf, secret } from "./support";

const root = resolve(__dirname, "../..");
const page = readFileSync(join(root, "docs/signature-mismatch.md"), "utf8");
const sections = page.split(/^## /m).slice(1);
const open: Running[] = [];
afterEach(() => Promise.all(open.splice(0).map((server) => server.close())));
afterAll(removeFolders);

/** The reasons in a section's heading. */
function reasonsOf(section: string): string[] {
  const [heading = ""] = section.split("\n");
  return [...heading.matchAll(/`([^`]+)`/g)].map(([, reason = ""]) => reason);
}

/** The reasons that `onRejected` may be told, as the type has them: those of `verifyDetailed` and the receiver's own. */
function reasonsInCode(): string[] {
  const file = join(root, "src/receiver/types.ts");
  const program = ts.createProgram([file], { strict: true, types: [] });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  const rejection = module && checker.getExportsOfModule(module).find(({ name }) => name === "Rejection");
  const reason = rejection && checker.getDeclaredTypeOfSymbol(rejection).getProperty("reason");
  const type = reason && checker.getTypeOfSymbol(reason);
  if (!type?.isUnion()) throw new Error("Rejection.reason is no union any more.");
  return type.types.map((each) => (each.isStringLiteral() ? each.value : checker.typeToString(each)));
}

test("each reason in the code has its section, and nothing else has", () => {
  expect(sections.flatMap(reasonsOf).sort()).toEqual(reasonsInCode().sort());
});

test.each(sections.map((section) => [reasonsOf(section).join(", "), section]))(
  "%s: what it looks like, its cause and its remedy",
  (_reasons, section) => {
    expect(section).toMatch(/\*\*In the log:\*\*.*\*\*Cause:\*\*.*\*\*Remedy[:,]/s);
    const shown = logLinesOf(section).map(({ reason }) => reason);
    expect(shown).not.toEqual([]);
    for (const reason of shown) expect(reasonsOf(section)).toContain(reason);
  },
);

function logLinesOf(text: string): Rejection[] {
  return [...text.matchAll(/`(\{"reason".*?\})`/gs)].map(([, line = ""]) => JSON.parse(line));
}

test("each line of a log that it shows is what a receiver tells", async () => {
  const told: Record<string, Rejection> = {};
  const onRejected = (rejection: Rejection) => {
    const line = JSON.parse(JSON.stringify(rejection));
    told[rejection.reason] = rejection.advice === undefined ? line : { ...line, advice: "…" };
  };
  const warning = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
  const { receiver } = receiverOf({ onRejected, maxBodyBytes: 1000 });
  const request = delivered({ id: "msg_2Lh9" });
  const hour = 3_600_000;
  const { "webhook-signature": signature, ...unsigned } = request.headers;
  const withHeaders = (headers: object) => ({ ...request, headers: { ...request.headers, ...headers } });
  for (const refused of [
    { ...request, body: Buffer.from("{}") },
    { ...request, body: Buffer.alloc(1001) },
    { ...request, method: "GET" },
    { ...request, headers: {} },
    delivered({ id: "msg_2Lh9", at: Date.now() - hour }),
    delivered({ id: "msg_2Lh9", at: Date.now() + hour }),
    { ...request, headers: { ...unsigned, "webhook-signature": [signature, signature] } },
    withHeaders({ "webhook-signature": "v1a,x" }),
    withHeaders({ "webhook-timestamp": "1.5" }),
  ])
    await receiver.handle(refused);
  for (const reason of ["parsed-body", "timeout", "aborted"] as const) await receiver.refuse(reason);
  const secrets = () => Promise.reject(new Error("not yet"));
  await receiverOf({ onRejected, secrets, onSecretsError: () => {} }).receiver.handle(request);

  const shown = logLinesOf(page);
  expect(shown).toEqual(shown.map(({ reason }) => told[reason]));
  warning.mockRestore();
});

test("the README links to the page of signature mismatches", () => {
  expect(readFileSync(join(root, "README.md"), "utf8")).toContain("(docs/signature-mismatch.md)");
});

describe("its script", () => {
  const script = /^```js\n(.*?)^```$/ms.exec(page)?.[1] ?? "";

  async function answerOf(listener: http.RequestListener): Promise<string> {
    const server = await listen(http.createServer(listener));
    open.push(server);
    const config = { version: 1, secrets: [secret], toleranceSeconds: 300, endpoints: {} };
    const cwd = makeFolder({ files: { "send.mjs": script }, packages: {} });
    const env = { ...process.env, WEBHOOK_RECEIVER: JSON.stringify(config) };
    const url = `http://127.0.0.1:${server.port}/jobs`;
    const { stdout } = await promisify(execFile)(process.execPath, ["send.mjs", url], { cwd, env });
    return stdout.trim();
  }

  test("is answered 200 where the way is right", async () => {
    expect(await answerOf(nodeHandler(receiverOf().receiver))).toBe("200 unhandled");
  });

  test("is answered 401 where a body was parsed and written anew", async () => {
    const { receiver, rejections } = receiverOf();
    const anew: http.RequestListener = async (request, response) => {
      const body = Buffer.from(JSON.stringify(await json(request)));
      Object.assign(request, { rawBody: body });
      nodeHandler(receiver)(request, response);
    };
    expect(await answerOf(anew)).toBe("401 not verified");
    expect(rejections).toMatchObject([{ reason: "signature-mismatch" }]);
  });
});
