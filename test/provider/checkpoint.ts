import type { Stack } from "./engineModel";
import { ROOT_URN } from "./rootUrn";

const PROVIDER_TYPE = "pulumi:providers:pulumi-nodejs";

/**
 * Returns a stack's deployment in the shape of `pulumi stack export`.
 *
 * @param configs the configuration of each provider, by its name
 */
export function deploymentOf(
  stack: Stack,
  configs: Readonly<Record<string, Readonly<Record<string, string>>>>,
  time = stack.written,
) {
  const urnOf = (name: string) => `urn:pulumi:dev::test::${PROVIDER_TYPE}::${name === "" ? "default" : name}`;
  const exported = <T extends { provider: string }>(resource: T) => ({
    ...resource,
    provider: `${urnOf(resource.provider)}::1`,
  });
  const providers = Object.entries(configs).map(([name, inputs]) => ({
    urn: urnOf(name),
    id: "1",
    type: PROVIDER_TYPE,
    inputs,
  }));
  return {
    manifest: { time },
    resources: [
      { urn: ROOT_URN, type: "pulumi:pulumi:Stack", created: stack.created },
      ...providers,
      ...stack.resources.map(exported),
    ],
    pending_operations: stack.pendingCreates.map((each) => ({ type: "creating", resource: exported(each) })),
  };
}

/** Returns a stack's history in the shape of `pulumi stack history --json`, which holds whole seconds. */
export function historyOf({ history }: Stack) {
  const toSeconds = (time: string) => time.replace(/\.\d+Z$/, ".000Z");
  return history.map((run) => ({
    ...run,
    startTime: toSeconds(run.startTime),
    endTime: toSeconds(run.endTime),
  }));
}
