import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import type { Pulumi } from "../pulumi";
import { type Finding, finding } from "./findings";

const { version, engines, peerDependencies }: Manifest = require("../../../package.json");
const SDK = "@pulumi/pulumi";

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/** The versions in use; null for what was not found. */
export interface Versions {
  readonly package: string;
  readonly node: string;
  readonly pulumi: string | null;
  readonly sdk: string | null;
}

export async function readVersions(
  pulumi: Pulumi,
  { PULUMI_OPTION_CWD = "" }: NodeJS.ProcessEnv,
): Promise<Versions> {
  const printed = await pulumi.run(["version"], { ofStack: false }).catch(() => undefined);
  const cli = printed?.exitCode === 0 ? printed.stdout.trim().replace(/^v/, "") : null;
  return {
    package: version,
    node: process.versions.node,
    pulumi: cli,
    sdk: sdkIn(resolve(PULUMI_OPTION_CWD)),
  };
}

/** Returns the version of Pulumi's SDK that a program in this folder loads. */
function sdkIn(folder: string): string | null {
  try {
    const manifest = createRequire(join(folder, "program.js")).resolve(`${SDK}/package.json`);
    return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
  } catch {
    return null;
  }
}

/** Compares the versions with those that the package needs. */
export function versionFindings({ node, pulumi, sdk }: Versions): Finding[] {
  const oldest = peerDependencies[SDK] ?? "";
  const rows = [
    ["Node.js", node, engines.node, "nvm install 22"],
    ["the Pulumi CLI", pulumi, oldest, "curl -fsSL https://get.pulumi.com | sh"],
    [SDK, sdk, oldest, `npm install ${SDK}@latest`],
  ] as const;
  return rows
    .filter(([, actual, least]) => actual !== null && isOlder(actual, least))
    .map(([what, actual, least, remedy]) =>
      finding(
        "note",
        "VERSION_OLD",
        `${what} ${actual} is older than this package supports (${least})`,
        remedy,
      ),
    );
}

/** @param range such as `>=20.18.1` or `^3.150.0` */
function isOlder(actual: string, range: string): boolean {
  const numbers = (text: string) => (text.match(/\d+/g) ?? []).slice(0, 3).map(Number);
  const have = numbers(actual);
  const differences = numbers(range).map((least, at) => (have[at] ?? 0) - least);
  return (differences.find((difference) => difference !== 0) ?? 0) < 0;
}
