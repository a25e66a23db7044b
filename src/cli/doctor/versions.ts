import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { absenceAfter, type Found, type Pulumi } from "../oldPulumi";
import { type Finding, note } from "./finding";

const { version, engines, peerDependencies }: Manifest = require("../../../package.json");
const SDK = "@pulumi/pulumi";

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/** The versions in use; null for what was not found, or does not tell its version. */
export interface Versions {
  readonly package: string;
  readonly node: string;
  readonly pulumi: string | null;
  readonly sdk: string | null;
}

export function versionsIn(folder: string, cli: string | undefined): Versions {
  return { package: version, node: process.versions.node, pulumi: cli ?? null, sdk: sdkVersion(folder) };
}

/** Returns the version of the Pulumi CLI, if there is one. @throws CliError `PULUMI_FAILED` */
export async function findCli(pulumi: Pulumi): Promise<Found<string>> {
  try {
    const printed = await pulumi.output(["version"], { ofStack: false });
    return { value: printed.trim().replace(/^v/, "") };
  } catch (error) {
    return absenceAfter(error);
  }
}

/** Compares the versions with those that the package needs. */
export function versionFindings({ node, pulumi, sdk }: Versions): Finding[] {
  const oldestSdk = peerDependencies[SDK] ?? "";
  const findings = [
    isOlder(node, engines.node) &&
      note(
        "NODE_OLD",
        `Node.js ${node} is older than the package needs (${engines.node})`,
        "Update Node.js.",
      ),
    isOlder(pulumi, oldestSdk) &&
      note(
        "CLI_OLD",
        `the Pulumi CLI ${pulumi} is older than the package supports (${oldestSdk})`,
        "Update it.",
      ),
    isOlder(sdk, oldestSdk) &&
      note(
        "SDK_OLD",
        `${SDK} ${sdk} is older than the package needs (${oldestSdk})`,
        `Run \`npm install ${SDK}@latest\`.`,
      ),
  ];
  return findings.filter((finding) => finding !== false);
}

/** Returns the version of Pulumi's SDK that a program in this folder loads. */
function sdkVersion(folder: string): string | null {
  try {
    const manifest = createRequire(join(folder, "program.js")).resolve(`${SDK}/package.json`);
    return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
  } catch {
    return null;
  }
}

/** Returns whether a version is known and older. @param range such as `>=20.18.1` or `^3.150.0` */
function isOlder(actual: string | null, range: string): boolean {
  if (actual === null) return false;
  const [a, b] = [actual, range].map((text) => (text.match(/\d+/g) ?? []).slice(0, 3).map(Number));
  for (const [index, least] of (b ?? []).entries()) {
    const difference = (a?.[index] ?? 0) - least;
    if (difference !== 0) return difference < 0;
  }
  return false;
}
