import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { credentials } from "@grpc/grpc-js";
import { AnalyzerClient } from "@pulumi/pulumi/proto/analyzer_grpc_pb";
import {
  AnalyzeRequest,
  type AnalyzeResponse,
  AnalyzerResourceOptions,
} from "@pulumi/pulumi/proto/analyzer_pb";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import * as ts from "typescript";
import { UNKNOWN_VALUE } from "../../../src/shared/optionChecks";
import { NATIVE_TYPE_TOKEN, TYPE_TOKEN, VALIDATION_TYPE_TOKEN } from "../../../src/shared/permanent";
import { makeFolder, removeFolders } from "../../receiver/readme/app";
import { snippetsOf } from "../../receiver/readme/snippets";

const page = readFileSync(join(__dirname, "../../../docs/resource.md"), "utf8");
const documented = snippetsOf(page).find(({ code }) => code.includes("@pulumi/policy"))?.code ?? "";
const modules = "test/integration/node_modules/@pulumi";

let server: ChildProcess;
let analyzer: AnalyzerClient;

/** Starts a policy pack as the engine does: its own server prints the port. */
async function serve(code: string): Promise<void> {
  const module = ts.ModuleKind.CommonJS;
  const folder = makeFolder({
    files: {
      "package.json": '{ "name": "policies", "version": "1.0.0" }',
      "index.js": ts.transpileModule(code, { compilerOptions: { module } }).outputText,
    },
    packages: { "@pulumi/policy": `${modules}/policy`, "@pulumi/pulumi": `${modules}/pulumi` },
  });
  server = spawn(process.execPath, ["index.js"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  const [port] = await once(createInterface(server.stdout ?? process.stdin), "line");
  analyzer = new AnalyzerClient(`127.0.0.1:${port}`, credentials.createInsecure());
}

afterEach(async () => {
  analyzer.close();
  server.kill();
  await once(server, "exit");
});
afterAll(removeFolders);

/** Returns what the pack says of a resource with these inputs, as `level: message`. */
async function analyze(type: string, inputs: Record<string, string>): Promise<string[]> {
  const request = new AnalyzeRequest();
  request.setType(type);
  request.setName("jobs");
  request.setUrn(`urn:pulumi:dev::test::${type}::jobs`);
  request.setOptions(new AnalyzerResourceOptions());
  request.setProperties(Struct.fromJavaScript(inputs));
  const response = await new Promise<AnalyzeResponse>((resolve, reject) =>
    analyzer.analyze(request, (error, answer) => (error ? reject(error) : resolve(answer))),
  );
  const levels = ["advisory", "mandatory"];
  return response
    .getDiagnosticsList()
    .map((each) => `${levels[each.getEnforcementlevel()]}: ${each.getMessage()}`);
}

const [http, https] = ["http://hooks.example.com/jobs", "HTTPS://hooks.example.com/jobs"];

test("the documented policy refuses plain http for a production endpoint, of the library and of the native plugin", async () => {
  await serve(documented);
  for (const type of [TYPE_TOKEN, NATIVE_TYPE_TOKEN]) {
    const refused = expect.stringMatching(/^mandatory: .*Declare an https url/s);
    expect(await analyze(type, { url: http, type: "production" })).toEqual([refused]);
    expect(await analyze(type, { url: https, type: "production" })).toEqual([]);
    expect(await analyze(type, { url: http, type: "development" })).toEqual([]);
    const skipped = expect.stringMatching(/^advisory: can't run policy .* during preview/);
    expect(await analyze(type, { url: UNKNOWN_VALUE, type: "production" })).toEqual([skipped]);
  }
  expect(await analyze(VALIDATION_TYPE_TOKEN, { url: http, type: "production" })).toEqual([]);
});

test("the typed helpers of a policy pack find endpoints and validations, and nothing else", async () => {
  await serve(`
    const { PolicyPack, validateResourceOfType } = require("@pulumi/policy");
    const classes = require("pulumi-webhook-endpoints");
    const rest = { description: "names its class", enforcementLevel: "advisory" };
    new PolicyPack("helpers", {
      policies: ["WebhookEndpoint", "ReceiverValidation", "WebhooksProvider"].map((name) => ({
        ...{ name, ...rest },
        validateResource: validateResourceOfType(classes[name], (_props, _args, report) => report(name)),
      })),
    });
  `);
  const found = async (type: string) =>
    (await analyze(type, { url: https })).map((each) => each.split("\n").at(-1));
  expect(await found(TYPE_TOKEN)).toEqual(["WebhookEndpoint"]);
  expect(await found(VALIDATION_TYPE_TOKEN)).toEqual(["ReceiverValidation"]);
  for (const other of [NATIVE_TYPE_TOKEN, "pulumi-nodejs:dynamic:Resource", "pulumi:providers:pulumi-nodejs"])
    expect(await found(other)).toEqual([]);
});
