import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import type { Pulumi } from "../pulumi";
import { type Finding, finding } from "./findings";

const manifest: {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly peerDependencies: Readonly<Record<string, string>>;
} = require("../../../package.json");
const SDK = "@pulumi/pulumi";

/** Returns the versions in use; null for what was not found. */
export async function readVersions(pulumi: Pulumi, { PULUMI_OPTION_CWD = "" }: NodeJS.ProcessEnv) {
  const printed = await pulumi.run(["version"], { ofStack: false }).catch(() => undefined);
  const cli = printed?.exitCode === 0 ? printed.stdout.trim().replace(/^v/, "") : null;
  const sdk = sdkIn(resolve(PULUMI_OPTION_CWD));
  return {
    "pulumi-webhook-endpoints": manifest.version,
    node: process.versions.node,
    pulumi: cli,
    [SDK]: sdk,
  };
}

/** Returns the version of Pulumi's SDK that a program in this folder loads. */
function sdkIn(folder: string): string | null {
  try {
    const path = createRequire(join(folder, "program.js")).resolve(`${SDK}/package.json`);
    return (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version;
  } catch {
    return null;
  }
}

/** Compares the versions with those that the package needs. */
export function versionFindings(versions: Readonly<Record<string, string | null>>): Finding[] {
  const oldest = manifest.peerDependencies[SDK] ?? "";
  const needed: readonly (readonly [name: string, range: string, remedy: string])[] = [
    ["node", manifest.engines.node, "nvm install 22"],
    ["pulumi", oldest, "curl -fsSL https://get.pulumi.com | sh"],
    [SDK, oldest, `npm install ${SDK}@latest`],
  ];
  return needed.flatMap(([name, range, remedy]) => {
    const actual = versions[name] ?? null;
    if (actual === null || !isOlder(actual, range)) return [];
    const message = `${name} ${actual} is older than this package supports (${range})`;
    return [finding("note", "VERSION_OLD", message, remedy)];
  });
}

/** @param range such as `>=20.18.1` or `^3.150.0` */
function isOlder(actual: string, range: string): boolean {
  const numbers = (text: string) => (text.match(/\d+/g) ?? []).slice(0, 3).map(Number);
  const have = numbers(actual);
  const differences = numbers(range).map((least, at) => (have[at] ?? 0) - least);
  return (differences.find((difference) => difference !== 0) ?? 0) < 0;
}
