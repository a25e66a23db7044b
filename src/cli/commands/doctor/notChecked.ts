import { providerNameOf, wantedBy } from "../../../provider/facts/exportedState";
import { COMMAND, quoted } from "../../../shared/commandLine";
import { type KnownStack, selectedIn } from "../../inventory/stacks";
import type { Pulumi } from "../../pulumi";
import type { Account } from "../../withAccount";

/** Returns what doctor did not see. @param own the stacks of this project @param account the one that it asked, if it could */
export function notCheckedIn(
  own: readonly KnownStack[],
  account: Account | undefined,
  { withStack }: Pulumi,
  all: boolean,
): string[] {
  const { configuration, origin } = account ?? {};
  // What a run is about to change cannot be checked now.
  const settled = own.filter(({ work }) => !work.mayRun);
  const deployed = settled.flatMap(({ state }) => state.endpoints);
  const selected = selectedIn(settled)?.state.endpoints ?? [];
  const [url = "https://hooks.example.com/jobs"] = selected.flatMap((each) => wantedBy(each)?.url ?? []);
  const probe = withStack(`${COMMAND} probe ${quoted(url)}`);
  const accounts = deployed.flatMap((each) => {
    const name = providerNameOf(each);
    if (name === undefined || each.outputs?.account === origin?.account) return [];
    const baseUrl = quoted(String(each.outputs?.baseUrl));
    // Settings of the stack come before those of the environment.
    const isInStack = ["webhooks:baseUrl", "webhooks:apiKey"].some((key) => configuration?.[key]?.value);
    const how = isInStack ? `it is at ${baseUrl}` : `export WEBHOOKS_BASE_URL=${baseUrl} WEBHOOKS_API_KEY=…`;
    return [`the account of the WebhooksProvider ${name}: ${how}`];
  });
  const receivers = `whether receivers run, and have the secret that the service signs with: ${probe}`;
  const stacks = `the stacks of other projects, which may have these endpoints, too: ${withStack(`${COMMAND} doctor --all`)}`;
  const program = `whether the program still declares these endpoints: ${withStack("pulumi preview")}`;
  return [
    ...(selected.length === 0 ? [] : [receivers, program]),
    ...new Set(accounts),
    ...(all || own.length === 0 ? [] : [stacks]),
  ];
}
