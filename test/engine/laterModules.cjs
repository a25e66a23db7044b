/**
 * Makes Pulumi's processes start sooner. Its SDK loads the TypeScript compiler, npm's dependency tree, the Automation API and an exporter
 * of traces at the start of every program or plugin, and uses none of them there: here, they are loaded when they are first used.
 */
const { existsSync, readFileSync } = require("node:fs");
const Module = require("node:module");

const later = new Set([
  ...["typescript", "@npmcli/arborist", "./automation", "normalize-package-data", "fdir", "semver"],
  ...["@opentelemetry/resources", "@opentelemetry/sdk-trace-base", "@opentelemetry/sdk-trace-node"],
  ...[
    "@opentelemetry/exporter-zipkin",
    "@opentelemetry/instrumentation",
    "@opentelemetry/instrumentation-grpc",
  ],
  // Never, then: it makes the stack of every error point into TypeScript, and each promise of the SDK has an error.
  "source-map-support/register",
]);
const load = Module._load;
Module._load = function (request, ...rest) {
  // A program starts V8's debugger for names of files in messages about functions that cannot be serialized. The first function does so, too.
  if (request === "../../runtime/closure/v8Hooks") return { isInitializedAsync: async () => {} };
  if (!later.has(request)) return load.call(this, request, ...rest);
  let loaded;
  const get = (_target, name) => {
    // The SDK copies every member of a module without this mark.
    if (name === "__esModule") return true;
    loaded ??= load.call(this, request, ...rest);
    // A module without the mark is its own default.
    return name === "default" && !loaded.__esModule ? loaded : loaded[name];
  };
  return new Proxy({}, { get });
};

// The language host that can be built from Go modules is an old one, and overlooks this option.
if (existsSync("Pulumi.yaml") && readFileSync("Pulumi.yaml", "utf8").includes("typescript: false"))
  delete process.env.PULUMI_NODEJS_TYPESCRIPT;
