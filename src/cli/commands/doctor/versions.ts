import { peerDependencies, version } from "../../../../package.json";
import type { Pulumi } from "../../pulumi";
import { type Finding, found } from "./finding";

/** Returns the versions that are in use; null for what was not found. */
export async function readVersions(pulumi: Pulumi) {
  const printed = await pulumi
    .forStack(undefined)
    .run(["version"])
    .catch(() => undefined);
  return {
    "pulumi-webhook-endpoints": version,
    node: process.versions.node,
    pulumi: printed?.stdout.trim().replace(/^v/, "") ?? null,
  };
}

/** Finds a command of Pulumi that is too old. npm itself warns of an old Node.js or SDK. */
export function* versionFindings({ pulumi }: { readonly pulumi: string | null }): Generator<Finding> {
  const range = peerDependencies["@pulumi/pulumi"] ?? "";
  const isOld =
    pulumi !== null && pulumi.localeCompare(range.replace(/^\D+/, ""), "en", { numeric: true }) < 0;
  if (isOld)
    yield found("VERSION_OLD", {
      message: `pulumi ${pulumi} is older than this package supports (${range})`,
      remedy: "curl -fsSL https://get.pulumi.com | sh",
    });
}
