const { name, version }: { name: string; version: string } = require("../../package.json");

/** Who asks, honestly: `pulumi-webhook-endpoints/0.1.0 node/20.18.1`. */
export const userAgent = `${name}/${version} node/${process.versions.node}`;
