import { providerNameOf, wantedBy } from "../../../provider/facts/resource";
import type { Origin } from "../../../shared/permanent";
import { COMMAND, quoted } from "../../../shared/words";
import { type KnownStack, selectedIn } from "../../inventory/stacks";
import type { Pulumi } from "../../pulumi";

const LAST_KEY =
  "whether refresh and destroy have today's API key, as after `pulumi up`: run that, then `pulumi refresh`, which shows it";

/** Returns what doctor did not see. @param own the stacks of this project @param origin the account that it asked, if it could */
export function notCheckedIn(
  own: readonly KnownStack[],
  origin: Origin | undefined,
  { withStack }: Pulumi,
  all: boolean,
): string[] {
  // What a run is about to change cannot be checked now.
  const settled = own.filter(({ work }) => !work.mayRun);
  const deployed = settled.flatMap(({ state }) => state.endpoints);
  const selected = selectedIn(settled)?.state.endpoints ?? [];
  const [url = "https://hooks.example.com/jobs"] = selected.flatMap((each) => wantedBy(each)?.url ?? []);
  const probe = withStack(`${COMMAND} probe ${quoted(url)}`);
  const accounts = deployed.flatMap((each) => {
    const name = providerNameOf(each);
    if (each.outputs?.account === origin?.account) return [];
    if (name === undefined) return origin === undefined ? [] : [LAST_KEY];
    const settings = `WEBHOOKS_BASE_URL=${quoted(String(each.outputs?.baseUrl))} WEBHOOKS_API_KEY=…`;
    return [`the account of the WebhooksProvider ${name}: export ${settings}`];
  });
  const receivers = `whether receivers run, and have the secret that the service signs with: ${probe}`;
  const stacks = `the stacks of other projects, which may have these endpoints, too: ${withStack(`${COMMAND} doctor --all`)}`;
  return [
    ...(selected.length === 0 ? [] : [receivers]),
    ...new Set(accounts),
    ...(all || own.length === 0 ? [] : [stacks]),
  ];
}
