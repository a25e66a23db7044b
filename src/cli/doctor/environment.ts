import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { environmentNameOf, SETTING_DEFAULTS, SETTING_NAMES } from "../../provider/settings";
import type { Account } from "../account";
import type { Pulumi } from "../pulumi";

const manifest: {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly peerDependencies: Readonly<Record<string, string>>;
} = require("../../../package.json");
const SDK = "@pulumi/pulumi";

/** A setting, and where it comes from. */
interface ShownSetting {
  readonly name: string;
  /** Of a secret, only that it is set; of the API key also its fingerprint, as the state has it. Null if it is not set. */
  readonly value: string | null;
  /** The key of the stack's configuration or the environment variable; null for the default. */
  readonly from: string | null;
}

export function shownSettings({ configuration, origin }: Account, env: NodeJS.ProcessEnv): ShownSetting[] {
  return SETTING_NAMES.map((name) => {
    const { value: inStack, secret } = configuration?.[`webhooks:${name}`] ?? {};
    const variable = environmentNameOf(name);
    const from = inStack ? `webhooks:${name}` : env[variable] ? variable : null;
    if (name === "apiKey") return { name, value: `set (fingerprint ${origin.account})`, from };
    if (inStack && secret) return { name, value: "set", from };
    return { name, value: inStack || env[variable] || (SETTING_DEFAULTS[name] ?? null), from };
  });
}

/** Returns the versions in use; null for what was not found. */
export async function readVersions(pulumi: Pulumi, { PULUMI_OPTION_CWD = "" }: NodeJS.ProcessEnv) {
  const printed = await pulumi
    .of(undefined)
    .run(["version"])
    .catch(() => undefined);
  return {
    "pulumi-webhook-endpoints": manifest.version,
    node: process.versions.node,
    pulumi: printed?.stdout.trim().replace(/^v/, "") ?? null,
    [SDK]: sdkIn(resolve(PULUMI_OPTION_CWD)),
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

/** Returns what is older than this package supports, and how it is updated. */
export function oldVersions(versions: Readonly<Record<string, string | null>>) {
  const range = manifest.peerDependencies[SDK] ?? "";
  const needed = [
    { name: "node", range: manifest.engines.node, update: "nvm install 22" },
    { name: "pulumi", range, update: "curl -fsSL https://get.pulumi.com | sh" },
    { name: SDK, range, update: `npm install ${SDK}@latest` },
  ];
  return needed
    .map((each) => ({ ...each, version: versions[each.name] ?? null }))
    .filter(({ version, range }) => version !== null && comparable(version) < comparable(range));
}

/** Returns a string that sorts as a version does, also for a range such as `>=20.18.1` or `^3.150.0`. */
function comparable(version: string): string {
  const numbers = (version.match(/\d+/g) ?? []).slice(0, 3);
  return numbers.map((each) => each.padStart(6, "0")).join(".");
}
