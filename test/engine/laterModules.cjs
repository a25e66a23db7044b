/**
 * Makes Pulumi's processes start sooner. Its SDK loads the TypeScript compiler, npm's dependency tree and the Automation API at the
 * start of every plugin and uses none of them there: here, they are loaded when they are first used.
 */
const { existsSync, readFileSync } = require("node:fs");
const Module = require("node:module");

const later = new Set(["typescript", "@npmcli/arborist", "./automation"]);
const load = Module._load;
Module._load = function (request, ...rest) {
  if (!later.has(request)) return load.call(this, request, ...rest);
  let loaded;
  const get = (_target, name) => {
    // The SDK copies every member of a module without this mark.
    if (name === "__esModule") return true;
    loaded ??= load.call(this, request, ...rest);
    return loaded[name];
  };
  return new Proxy({}, { get });
};

// The language host that can be built from Go modules is an old one, and overlooks this option.
if (existsSync("Pulumi.yaml") && readFileSync("Pulumi.yaml", "utf8").includes("typescript: false"))
  delete process.env.PULUMI_NODEJS_TYPESCRIPT;
