/**
 * Lets Pulumi's SDK load the TypeScript compiler and npm's dependency tree when it first uses them. Every plugin process loads
 * them at its start and uses neither, which is a third of what an `up` of these tests takes.
 */
const Module = require("node:module");

const later = new Set(["typescript", "@npmcli/arborist"]);
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
