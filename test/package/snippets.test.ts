import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeFolder, removeFolders } from "../receiver/readme/app";
import { snippetsOf } from "../receiver/readme/snippets";
import { packedFiles, read, root } from "./pages";

afterAll(removeFolders);

const OF_TESTS = [
  ...["express", "fastify", "hono", "@hono/node-server", "@pulumi/policy", "@types"],
  ...["@trpc/server", "@upstash", "bullmq", "ioredis", "kafkajs", "prom-client", "redis", "zod"],
];
const installed = OF_TESTS.map((name) => [name, `test/integration/node_modules/${name}`]);
const packages = { "@pulumi/pulumi": "node_modules/@pulumi/pulumi", ...Object.fromEntries(installed) };

/** What a part of a program takes from the rest of it. */
const PRELUDE = `
type Program = typeof import("pulumi-webhook-endpoints");
type Receiving = typeof import("pulumi-webhook-endpoints/receiver");
type Queues = typeof import("pulumi-webhook-endpoints/receiver/queues");
type DeliveryQueue = import("pulumi-webhook-endpoints/receiver").DeliveryQueue;

declare const WebhookEndpoint: Program["WebhookEndpoint"];
declare const ReceiverValidation: Program["ReceiverValidation"];
declare const receiverConfig: Program["receiverConfig"];
declare const createReceiver: Receiving["createReceiver"];
declare const redisDedupe: Receiving["redisDedupe"];
declare const receiverFromEnv: typeof import("pulumi-webhook-endpoints/stack").receiverFromEnv;
declare const verifyDetailed: typeof import("pulumi-webhook-endpoints/signature").verifyDetailed;
declare const bullmqQueue: Queues["bullmqQueue"];
declare const queueWorker: Queues["queueWorker"];

declare const pulumi: typeof import("@pulumi/pulumi");
declare const config: import("@pulumi/pulumi").Config;
declare const args: import("pulumi-webhook-endpoints").WebhookEndpointArgs;
declare const jobs: import("pulumi-webhook-endpoints").WebhookEndpoint;
declare const deployment: import("@pulumi/pulumi").Resource;
declare const release: string;

declare const url: string;
declare const secret: string;
declare const secrets: string[];
declare const rawBody: Uint8Array;
declare const request: import("node:http").IncomingMessage;
declare const handlers: import("pulumi-webhook-endpoints/receiver").Handlers;
declare function markDone(jobId: string | undefined): Promise<void>;
declare const receiver: import("pulumi-webhook-endpoints/receiver").Receiver;
declare const createHash: typeof import("node:crypto").createHash;
declare const z: typeof import("zod").z;

declare const queue: import("bullmq").Queue;
declare const Worker: typeof import("bullmq").Worker;
declare const connection: import("bullmq").ConnectionOptions;
declare const client: import("ioredis").Redis;
declare const producer: import("kafkajs").Producer;
declare const consumer: import("kafkajs").Consumer;
`;

/** The oldest compiler that the types of receivers are for, the one of this package, and the newest. */
const COMPILERS = {
  "5.0": "test/integration/node_modules/typescript-5.0",
  "5.9": "node_modules/typescript",
  "7": "test/integration/node_modules/typescript-7",
} as const;

/** What a project may set, by the folder that it gets. */
const SETTINGS = {
  node16: { module: "node16" },
  nodenext: { module: "nodenext" },
  bundler: { module: "esnext", moduleResolution: "bundler" },
} as const;

/** Returns every program of the pages, and every part of one, by its file. */
function documented(): Record<string, string> {
  const files: Record<string, string> = { "prelude.d.ts": PRELUDE };
  for (const page of packedFiles().filter((file) => file.endsWith(".md")))
    for (const [index, { code, title, isTypeScript }] of snippetsOf(read(page)).entries()) {
      const isProperty = /^\w+: /.test(code);
      const name =
        code.includes("export const receiver = receiverFrom") && title === "receiver.ts"
          ? title
          : `${page.replace(/\W/g, "_")}_${index}.ts`;
      if (isTypeScript)
        files[name] = isProperty
          ? `createReceiver({ secrets, handlers,\n${code}});\nexport {};`
          : `${code}\nexport {};`;
    }
  expect(Object.keys(files).length).toBeGreaterThan(30);
  return files;
}

/** Read once: npm takes a second to list the pages. */
let programs: Record<string, string>;
beforeAll(() => {
  programs = documented();
});

/** Returns the errors of a compiler for these files, with each of the settings. */
async function errorsOf(compiler: string, files: Readonly<Record<string, string>>): Promise<string[]> {
  const copies = Object.entries(SETTINGS).flatMap(([folder, settings]) => {
    const compilerOptions = {
      ...{ target: "es2022", lib: ["es2023"], types: ["node"], noEmit: true, skipLibCheck: true },
      ...{ strict: true, exactOptionalPropertyTypes: true, verbatimModuleSyntax: true },
      ...settings,
    };
    const all = { ...files, "tsconfig.json": JSON.stringify({ compilerOptions }) };
    return Object.entries(all).map(([file, code]) => [`${folder}/${file}`, code]);
  });
  const cwd = makeFolder({ files: Object.fromEntries(copies), packages });
  const args = [join(root, compiler, "bin/tsc"), "--build", "--pretty", "false", ...Object.keys(SETTINGS)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd }).catch((failure) => failure);
  return String(stdout).trim().split("\n").filter(Boolean);
}

test.each(Object.entries(COMPILERS))(
  "TypeScript %s accepts what the documentation shows and refuses common mistakes, with each way to resolve modules",
  async (_version, compiler) => {
    const fixtures = ["mistakes.ts", "programMistakes.ts"];
    const mistakes = fixtures.map((file) => [file, read(`test/package/fixtures/${file}`)]);
    // Shows that the compiler reports a mistake that it accepts, in each project.
    const accepted = "// @ts-expect-error\nexport const accepted = 1;";
    const found = await errorsOf(compiler, {
      ...programs,
      ...Object.fromEntries(mistakes),
      "accepted.ts": accepted,
    });
    expect(found).toEqual(
      Object.keys(SETTINGS).map((folder) => expect.stringMatching(`^${folder}/accepted.ts.* TS2578`)),
    );
  },
);
