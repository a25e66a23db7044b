import { type Endpoint, WebhookEndpointNotFoundError } from "../client";
import type { Entry } from "../settlement/entry";
import { type Identity, keyOf } from "../settlement/identity";
import type { PendingRecord } from "../settlement/pendingResource";
import type { Stacks } from "../settlement/stack";
import type { Takings } from "../settlement/takings";
import { originHashes, type Trace, traceOfEndpoint } from "../settlement/trace";
import { sameUrl } from "../shared/url";
import { describeResource, stackOf } from "../shared/urn";
import { quoted } from "../shared/words";
import type { EngineLog } from "./engine";
import { EndpointError } from "./errors";
import type { Ledger } from "./ledger";
import type { Origin } from "./origin";
import type { Service } from "./service";
import type { EndpointInputs } from "./types";

export interface AdoptionSources {
  readonly service: Service;
  readonly stacks: Stacks;
  readonly takings: Takings;
  readonly ledger: Ledger;
  readonly origin: Origin;
  readonly log: EngineLog;
}

/**
 * Adopts the endpoint that the user named. Nothing changes at the service.
 *
 * @param takes.entry the resource's entry of the book
 * @param takes.replaced the pending registration of the resource that it replaces
 * @returns undefined if the endpoint was adopted before and is deleted since: then the resource needs a new one
 * @throws EndpointError `ADOPT_NOT_FOUND`, `ADOPT_MISMATCH` or `ADOPT_TAKEN`
 */
export async function adopt(
  id: string,
  inputs: EndpointInputs,
  { entry, replaced }: { readonly entry: Entry | undefined; readonly replaced: PendingRecord | undefined },
  { ledger, log, origin, service, stacks, takings }: AdoptionSources,
): Promise<Endpoint | undefined> {
  const endpoint = await service.get(id).catch((error: unknown) => {
    if (!(error instanceof WebhookEndpointNotFoundError)) throw error;
    // By this run, or behind Pulumi's back.
    if (ledger.has(id, "deleted") || takings.hasHad(entry, inputs, id)) return undefined;
    throw new EndpointError(
      "ADOPT_NOT_FOUND",
      `cannot adopt endpoint ${id}: the service has no endpoint with this id. Correct adoptId, or remove it to register a new one.`,
      { cause: error },
    );
  });
  if (endpoint === undefined) {
    log.warn(`endpoint ${id} in adoptId no longer exists, so a new one is registered. Remove adoptId.`);
    return undefined;
  }
  assertAsDeclared(endpoint, inputs);
  const trace = traceOfEndpoint(endpoint, originHashes(origin));
  await assertFree(trace, { log, stacks });
  // Right before it is taken: other resources take theirs meanwhile.
  if (ledger.isKept(id) || takings.holderBeside(endpoint, trace) !== "nobody") {
    throw new EndpointError(
      "ADOPT_TAKEN",
      `cannot adopt endpoint ${id}: another resource of this program already has it. Name it in only one of them.`,
    );
  }
  takings.adopt(entry, endpoint, replaced);
  return ledger.noteOurs(endpoint, "made");
}

/**
 * Refuses a new adoptId that comes together with the url and type of the endpoint that it names, if the resource has another one: a replacement
 * registers, so the service would have two. An adoptId that the program had before is what an earlier adoption left, and has no effect.
 *
 * @param id the endpoint of the resource
 * @throws EndpointError `ADOPT_TOO_LATE`
 */
export async function assertNotTooLate(
  id: string,
  { olds, news }: { readonly olds: Identity; readonly news: EndpointInputs },
  service: Service,
): Promise<void> {
  const { adoptId } = news;
  if (adoptId === undefined || adoptId === id || keyOf(olds) === keyOf(news)) return;
  const endpoint = await service.find(adoptId);
  if (endpoint === undefined || keyOf(endpoint) !== keyOf(news)) return;
  throw new EndpointError(
    "ADOPT_TOO_LATE",
    `cannot adopt endpoint ${adoptId}: the resource has ${id}, and a resource that has an endpoint adopts no other. The resource was not changed. ` +
      `Give it another name, without an alias: then \`pulumi up\` adopts ${adoptId} and deletes ${id}. Or remove adoptId to register a new endpoint.`,
  );
}

/** The stacks of a project often run one program. The first one that is destroyed would delete the endpoint of all. */
async function assertFree(trace: Trace, { log, stacks }: Pick<AdoptionSources, "log" | "stacks">) {
  const { states, unread } = await stacks.others();
  const [manager] = states.flatMap((state) => state.managerOf(trace) ?? []);
  if (manager !== undefined)
    throw new EndpointError(
      "ADOPT_TAKEN",
      `cannot adopt endpoint ${trace.id}: ${describeResource(manager)} already has it, and if either stack was destroyed, the other would ` +
        "lose it. Declare it in one stack only, for example with `pulumi.getStack()`. To move it to this stack, first run " +
        `\`pulumi state delete ${quoted(manager.urn)} --stack ${quoted(stackOf(manager.urn).stack)}\`.`,
    );
  const unknown = unread === undefined ? "the project's other stacks" : unread.join(", ");
  if (unknown !== "")
    log.warn(
      `adopts ${trace.id} without having read the state of ${unknown}: if another stack has the endpoint too, the \`pulumi destroy\` of either ` +
        "deletes it.",
    );
}

function assertAsDeclared({ id, url, type }: Endpoint, inputs: EndpointInputs): void {
  const differing = [...(sameUrl(url, inputs.url) ? [] : ["url"]), ...(type === inputs.type ? [] : ["type"])];
  if (differing.length === 0) return;
  throw new EndpointError(
    "ADOPT_MISMATCH",
    `cannot adopt endpoint ${id}: its ${differing.join(" and ")} at the service ${differing.length === 1 ? "differs" : "differ"} ` +
      "from the declaration. Declare the endpoint as it is, adopt it, and change it afterwards; or remove adoptId to register a new one.",
  );
}
