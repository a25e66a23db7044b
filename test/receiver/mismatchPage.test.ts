import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import http from "node:http";
import { join, resolve } from "node:path";
import { buffer, json } from "node:stream/consumers";
import { promisify } from "node:util";
import * as ts from "typescript";
import { createReceiver, type ReceiverOptions, type Rejection } from "../../src/receiver";
import { nodeHandler } from "../../src/receiver/adapters/node";
import { receiverFromEnv } from "../../src/stack";
import { express5 } from "../integration/frameworks/modules";
import { listen, type Running } from "../integration/frameworks/servers";
import { wrongSignatures } from "../signature/support";
import { configText } from "../stack/support";
import { head, raw, startUpload } from "./adapters/wire";
import { makeFolder, removeFolders } from "./readme/app";
import { deferred, delivered, otherSecret, receiverOf, secret } from "./support";

const HOUR_MS = 3_600_000;
const root = resolve(__dirname, "../..");
const page = readFileSync(join(root, "docs/signature-mismatch.md"), "utf8");
const [symptoms = ""] = page.split("## Differences from the reference");
const sections = symptoms.split(/^## /m).slice(1);
const open: Running[] = [];
let warning: jest.SpyInstance;
beforeEach(() => {
  warning = jest.spyOn(process, "emitWarning").mockImplementation(() => {});
});
afterEach(async () => {
  warning.mockRestore();
  await Promise.all(open.splice(0).map((server) => server.close()));
});
afterAll(removeFolders);

/** Returns the reasons in a section's heading. */
function reasonsOf(section: string): string[] {
  const [heading = ""] = section.split("\n");
  return [...heading.matchAll(/`([^`]+)`/g)].map(([, reason = ""]) => reason);
}

/** Returns the section for a reason, as a reader finds it by the headings. */
function sectionOf(reason: string): string {
  const section = sections.find((each) => reasonsOf(each).includes(reason));
  if (section === undefined) throw new Error(`There is no section for ${reason}.`);
  return section.replace(/\s+/g, " ");
}

/** Returns the reasons that `onRejected` may get, from its type: those of `verifyDetailed` and the receiver's own. */
function reasonsInCode(): string[] {
  const file = join(root, "src/receiver/types.ts");
  const program = ts.createProgram([file], { strict: true, types: [] });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  const rejection = module && checker.getExportsOfModule(module).find(({ name }) => name === "Rejection");
  const reason = rejection && checker.getDeclaredTypeOfSymbol(rejection).getProperty("reason");
  const type = reason && checker.getTypeOfSymbol(reason);
  if (!type?.isUnion()) throw new Error("Rejection.reason is no longer a union.");
  return type.types.map((each) => (each.isStringLiteral() ? each.value : checker.typeToString(each)));
}

function logLinesOf(text: string): Rejection[] {
  return [...text.matchAll(/`(\{"reason".*?\})`/gs)].map(([, line = ""]) => JSON.parse(line));
}

async function listening(onRequest: http.RequestListener): Promise<number> {
  const server = await listen(http.createServer(onRequest));
  open.push(server);
  return server.port;
}

test("the page has one section for each reason in the code, and for no other", () => {
  expect(sections.flatMap(reasonsOf).sort()).toEqual(reasonsInCode().sort());
});

test.each(sections.map((section) => [section.split("\n")[0] ?? "", section]))(
  "the section %s has a log line, a cause and a remedy",
  (_heading, section) => {
    expect(section).toMatch(/\*\*In the log:\*\*.*\*\*Cause:\*\*.*\*\*Remedy:\*\*/s);
    for (const { reason } of logLinesOf(section)) expect(reasonsOf(section)).toContain(reason);
  },
);

test("the README links to the page", () => {
  expect(readFileSync(join(root, "README.md"), "utf8")).toContain("(docs/signature-mismatch.md)");
});

describe("the log of a receiver", () => {
  /** Sends a request to a receiver that logs as the page says, and returns the one line that it logs. */
  async function logged(
    send: (port: number) => unknown,
    { bodyTimeoutMs, before, ...options }: Symptom["options"] = {},
  ): Promise<Rejection> {
    const line = deferred<string>();
    const warn = jest.spyOn(console, "warn").mockImplementation((text) => line.resolve(String(text)));
    const onRejected = (rejection: Rejection) => console.warn(JSON.stringify(rejection));
    expect(page).toContain("onRejected: (rejection) => console.warn(JSON.stringify(rejection))");
    const receiver = createReceiver({ secrets: secret, handlers: {}, onRejected, ...options });
    const handle = nodeHandler(receiver, { bodyTimeoutMs });
    const port = await listening(async (request, response) => {
      await before?.(request);
      await handle(request, response);
    });
    await send(port);
    const rejection: Rejection = JSON.parse(await line.promise);
    warn.mockRestore();
    return rejection.advice === undefined ? rejection : { ...rejection, advice: "…" };
  }

  type Request = ReturnType<typeof delivered>;
  const genuine = () => delivered({ id: "msg_2Lh9" });
  const post = (request: Request | (() => Request)) => async (port: number) => {
    const { headers, body } = typeof request === "function" ? request() : request;
    await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body });
  };
  const withHeader = (name: string, value: string | undefined) => () => {
    const { headers, ...rest } = genuine();
    const all = Object.entries({ ...headers, [name]: value }).filter(([, each]) => each !== undefined);
    return { ...rest, headers: Object.fromEntries(all) } as Request;
  };
  const atTime = (now: () => unknown) => ({ now: now as () => number });

  interface Symptom {
    readonly reason: Rejection["reason"];
    readonly send: (port: number) => unknown;
    readonly options?: Partial<ReceiverOptions> & {
      readonly bodyTimeoutMs?: number;
      readonly before?: (request: http.IncomingMessage) => unknown;
    };
    /** The page's words for this cause. */
    readonly cause: string;
  }
  const causes: Readonly<Record<string, Symptom>> = {
    "of another secret": {
      reason: "signature-mismatch",
      send: post(genuine),
      options: { secrets: otherSecret },
      cause: "the receiver doesn't have the stack's secrets",
    },
    "behind a parser": {
      reason: "parsed-body",
      send: post(genuine),
      options: { before: async (request) => void (await buffer(request)) },
      cause: "something parsed them before the receiver got them",
    },
    "with a clock that is ahead": {
      reason: "timestamp-too-old",
      send: post(genuine),
      options: atTime(() => Date.now() + HOUR_MS),
      cause: "the receiver's clock is ahead",
    },
    "of a recorded delivery": {
      reason: "timestamp-too-old",
      send: post(delivered({ id: "msg_2Lh9", at: Date.now() - HOUR_MS })),
      cause: "someone sends a recorded delivery again",
    },
    "with a clock that is behind": {
      reason: "timestamp-too-new",
      send: post(genuine),
      options: atTime(() => Date.now() - HOUR_MS),
      cause: "The receiver's clock is more than `toleranceSeconds` behind",
    },
    "signed with milliseconds": {
      reason: "timestamp-too-new",
      send: post(() => delivered({ id: "msg_2Lh9", at: Date.now() * 1000 })),
      cause: "signs with milliseconds (`Date.now()`)",
    },
    "without secrets yet": {
      reason: "no-secrets",
      send: post(genuine),
      options: { secrets: () => Promise.reject(new Error("not yet")), onSecretsError: () => {} },
      cause: "Until it has loaded secrets once",
    },
    "with a clock that returns a date": {
      reason: "invalid-clock",
      send: post(genuine),
      options: atTime(() => new Date()),
      cause: "returned a `Date`",
    },
    "of a health check": {
      reason: "missing-id",
      send: post({ ...genuine(), headers: {} as Request["headers"] }),
      cause: "it is not a delivery (a health check",
    },
    "behind a proxy that removes the signature": {
      reason: "missing-signature",
      send: post(withHeader("webhook-signature", undefined)),
      cause: "a proxy removed it",
    },
    "behind a relay that adds its own signature": {
      reason: "duplicate-signature",
      send: async (port) => {
        const { headers, body } = genuine();
        const sent = [...Object.entries(headers), ["webhook-signature", headers["webhook-signature"]]];
        const length = ["content-length", String(body.length)];
        await raw(port, head([...sent, length, ["connection", "close"]] as [string, string][]), body).answer;
      },
      cause: "your own relay adds its own headers to those that it forwards",
    },
    "with a hexadecimal signature": {
      reason: "no-v1-signature",
      send: post(withHeader("webhook-signature", "5f2b".repeat(16))),
      cause: "a hexadecimal signature",
    },
    "with a cut-off signature": {
      reason: "malformed-signature",
      send: post(withHeader("webhook-signature", "v1,AAAA")),
      cause: "They may be base64url, or cut off",
    },
    "with many signatures": {
      reason: "too-many-signatures",
      send: post(withHeader("webhook-signature", wrongSignatures(33))),
      cause: "more than 32 `v1` entries",
    },
    "with a date as timestamp": {
      reason: "malformed-timestamp",
      send: post(withHeader("webhook-timestamp", new Date().toISOString())),
      cause: "A date is not a timestamp",
    },
    "with a dot in the id": {
      reason: "malformed-id",
      send: post(withHeader("webhook-id", "msg.1")),
      cause: "contains a dot, a space",
    },
    "with a large body": {
      reason: "size",
      send: post({ ...genuine(), body: Buffer.alloc(1001) }),
      options: { maxBodyBytes: 1000 },
      cause: "larger than `maxBodyBytes`",
    },
    "with a slow body": {
      reason: "timeout",
      send: async (port) => {
        const { socket } = await startUpload(port, { "content-length": "10" });
        socket.on("data", () => socket.end());
      },
      options: { bodyTimeoutMs: 20 },
      cause: "took longer than `bodyTimeoutMs`",
    },
    "that is aborted": {
      reason: "aborted",
      send: async (port) => void (await startUpload(port, { "content-length": "10" })).socket.destroy(),
      cause: "was cut off",
    },
    "of a browser": {
      reason: "method",
      send: (port) => fetch(`http://127.0.0.1:${port}/`),
      cause: "the request wasn't a POST",
    },
  };

  test.each(Object.entries(causes))("for a request %s leads to that cause", async (_what, symptom) => {
    const line = await logged(symptom.send, symptom.options);
    expect(line.reason).toBe(symptom.reason);
    expect(sectionOf(line.reason)).toContain(symptom.cause);
    // The page shows the line as it is, unless it shows that of another reason in the same section.
    const [shown] = logLinesOf(page).filter(({ reason }) => reason === line.reason);
    if (shown !== undefined) expect(line).toEqual(shown);
  });

  test("has every line that the page shows", () => {
    const produced = new Set(Object.values(causes).map(({ reason }) => reason));
    for (const { reason } of logLinesOf(page)) expect(produced).toContain(reason);
  });

  test("does not exist when the secret is malformed, and the error leads to that cause", () => {
    const [, shown = ""] = /`(WebhookSecretError: .*?)`/s.exec(sectionOf("malformed-secret")) ?? [];
    expect(() => createReceiver({ secrets: `${secret}\n`, handlers: {} })).toThrow(
      shown.replace("WebhookSecretError: ", ""),
    );
    expect(sectionOf("malformed-secret")).toContain("a trailing newline from a file");
  });
});

describe("the page's test deliveries lead to the true cause:", () => {
  const [script = ""] = [...page.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = ""]) => code);
  const fingerprintCommand = /^node -p '(.*)'$/m.exec(page)?.[1] ?? "";
  const run = promisify(execFile);
  const cwd = () => makeFolder({ files: { "send.mjs": script }, packages: {} });

  /** Sends the test deliveries with the secrets of the stack. Returns the row of the page's table for the answers. */
  async function diagnose(secrets: readonly string[], port: number) {
    const env = { ...process.env, WEBHOOK_RECEIVER: configText(...secrets) };
    const args = ["send.mjs", `http://127.0.0.1:${port}/jobs`];
    const { stdout } = await run(process.execPath, args, { cwd: cwd(), env });
    const of = (name: string) =>
      [...stdout.matchAll(new RegExp(`^secret \\d+, ${name} body: (\\d+)$`, "gm"))].map(
        ([, status]) => status,
      );
    const [simple, spaced] = [of("simple"), of("spaced")];
    expect([simple.length, spaced.length]).toEqual([secrets.length, secrets.length]);
    const cells =
      new Set(simple).size > 1
        ? "200 for some secrets, 401 for others | the same"
        : `${simple[0]} | ${spaced[0]}`;
    const row = page.split("\n").find((line) => line.startsWith(`| ${cells} |`));
    if (row === undefined) throw new Error(`The page's table has no row for ${cells}.`);
    return { row, fingerprint: /^fingerprint (.*)$/m.exec(stdout)?.[1] };
  }

  /** Runs the page's command where the receiver runs. */
  async function fingerprintOf(...secrets: string[]): Promise<string> {
    const env = { ...process.env, WEBHOOK_RECEIVER: configText(...secrets) };
    const { stdout } = await run(process.execPath, ["-p", fingerprintCommand], { cwd: cwd(), env });
    expect(stdout.trim()).toMatch(/^[0-9a-f]{12}$/);
    return stdout.trim();
  }

  /** Starts a receiver as the page does, with the configuration that its process was started with. */
  async function receiverWith(...secrets: string[]): Promise<http.RequestListener> {
    process.env.MISMATCH_RECEIVER = configText(...secrets);
    const receiver = receiverFromEnv(
      { variable: "MISMATCH_RECEIVER" },
      { handlers: {}, onRejected: () => {} },
    );
    delete process.env.MISMATCH_RECEIVER;
    return nodeHandler(receiver);
  }

  /** Passes requests on with another body, as a proxy does. */
  const behind = (handle: http.RequestListener, change: (request: http.IncomingMessage) => Promise<string>) =>
    (async (request, response) => {
      Object.assign(request, { rawBody: Buffer.from(await change(request)) });
      handle(request, response);
    }) satisfies http.RequestListener;

  test("the service signs with a secret that the stack does not have", async () => {
    const port = await listening(await receiverWith(secret));
    expect((await diagnose([secret], port)).row).toContain("The service signs with another secret");
  });

  test("the receiver was not restarted after the secret changed", async () => {
    const port = await listening(await receiverWith(otherSecret));
    const { row, fingerprint } = await diagnose([secret], port);
    expect(row).toContain("The receiver has other secrets");
    expect(await fingerprintOf(otherSecret)).not.toBe(fingerprint);
  });

  test("the receiver was not restarted in the middle of a rotation", async () => {
    const port = await listening(await receiverWith(secret));
    const { row, fingerprint } = await diagnose([secret, otherSecret], port);
    expect(row).toContain("The receiver has other secrets");
    expect(await fingerprintOf(secret)).not.toBe(fingerprint);
  });

  test("a program or proxy parses the body and writes it again", async () => {
    const handle = await receiverWith(secret);
    const port = await listening(behind(handle, async (request) => JSON.stringify(await json(request))));
    expect((await diagnose([secret], port)).row).toContain("Something changes the body");
  });

  test("a template in front wraps the body, though the receiver has the stack's secrets", async () => {
    const handle = await receiverWith(secret);
    const wrapped = async (request: http.IncomingMessage) => `{"body":${await buffer(request)}}`;
    const port = await listening(behind(handle, wrapped));
    const { row, fingerprint } = await diagnose([secret], port);
    expect(row).toContain("The receiver has other secrets");
    expect(await fingerprintOf(secret)).toBe(fingerprint);
    expect(page).toMatch(
      /If the fingerprints are equal.*something\s+in front of the receiver probably replaces\s+the whole body/s,
    );
    // The next step: the same deliveries to the process itself.
    expect((await diagnose([secret], await listening(handle))).row).toContain(
      "The service signs with another secret",
    );
  });

  test("the endpoint's path is not the receiver's", async () => {
    const app = express5();
    app.post("/webhooks", await receiverWith(secret));
    const port = await listening(app);
    expect((await diagnose([secret], port)).row).toContain("(#not-found)");
    const answer = await fetch(`http://127.0.0.1:${port}/jobs`, { method: "POST" });
    expect(await answer.text()).toContain("Cannot POST /jobs");
    expect(page).toContain("`Cannot POST /jobs` (Express)");
  });

  test("the framework parses the body first", async () => {
    const app = express5();
    app.use(express5.json());
    app.post("/jobs", await receiverWith(secret));
    expect((await diagnose([secret], await listening(app))).row).toContain("`parsed-body`");
  });

  test("nothing is wrong: the receiver's handlers are not called", async () => {
    const handler = jest.fn();
    const { receiver, outcomes } = receiverOf({ handlers: { "job.succeeded": handler } });
    await diagnose([secret], await listening(nodeHandler(receiver)));
    expect(outcomes).toMatchObject([{ outcome: "unhandled" }, { outcome: "unhandled" }]);
    expect(handler).not.toHaveBeenCalled();
  });
});
