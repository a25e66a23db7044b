import { WebhookEndpointNotFoundError } from "../client";
import { type Holder, strongest, type Trace } from "../settlement/trace";
import { quoted } from "../shared/words";
import { traceOf } from "./originCheck";
import type { Run } from "./run";
import type { Service } from "./service";
import { isPending } from "./state";
import type { EndpointState } from "./types";

/** Deletes the endpoint of a resource, unless another resource has it. An endpoint that the service does not know is gone. */
export async function deleteEndpoint(id: string, state: EndpointState, run: Run): Promise<void> {
  const { handover, ledger, log, origins, registrar, service, stacks, takings } = run;
  if (!(await origins.isHere(id, state))) {
    origins.concludeGone(id, state);
    return;
  }
  if (ledger.has(id, "wanted") && !ledger.mayDelete(id)) {
    log.warn(`endpoint ${id} is kept, because adoptId names it. Remove adoptId to register a new one.`);
    return;
  }
  // With another key, the same id, url and type may be a coincidence.
  const ofThisRun = origins.isElsewhere(state) ? "unclear" : "somebody";
  await registrar.inTurn(state, async () => {
    if (!ledger.mayDelete(id)) {
      log.warn(describeKept(id, state, ofThisRun));
      return;
    }
    // An equal resource, which failed with the same provisional id, is not another endpoint's.
    if (ledger.has(id, "settled")) return;
    const stack = await stacks.current();
    const recorded = await stack?.present({ isAtEnd: !handover.isWaiting(id) });
    const known = stack === undefined ? [] : takings.ofStack(stack.name, state);
    const holderOf = (endpoint: Trace) =>
      strongest(takings.holderBeside(state, endpoint), recorded?.otherHolderOf(endpoint, known) ?? "nobody");
    const other = await otherHolderOf({ ...traceOf(id, state), id }, holderOf, service);
    if (other !== "nobody") {
      recorded?.giveUp(id);
      // The engine may be about to delete the other resource with another provider, too. The state shows that only afterwards.
      const ifGone = ` If that one goes too, delete the endpoint with \`npx pulumi-webhook-endpoints delete ${quoted(id)}\`.`;
      log.warn(`${describeKept(id, state, other)}${other === "somebody" ? ifGone : ""}`);
      return;
    }
    try {
      if (isPending(state)) {
        origins.assertSameService(id, state);
        const isSettled = await registrar.settleForDelete(id, state, handover.adoptIdFor(id));
        if (!isSettled) origins.concludeGone(id, state);
      } else if (!(await origins.isUsedAgain(id, state))) {
        await service.delete(id, takings.newForMs(id, state));
        takings.noteDeleted(id, state);
        ledger.note(id, "deleted");
      }
    } catch (error) {
      if (!(error instanceof WebhookEndpointNotFoundError)) throw error;
      origins.concludeGone(id, state, error);
    }
  });
}

/** Returns whether another resource of the stack has the endpoint. */
async function otherHolderOf(
  trace: Trace & { readonly id: string },
  holderOf: (endpoint: Trace) => Holder,
  service: Service,
): Promise<Holder> {
  const other = holderOf(trace);
  if (other === "nobody" || trace.createdAt !== undefined) return other;
  // When it was made, which no registration answers, tells it from one of another service with the same id.
  const endpoint = await service.find(trace.id).catch(() => undefined);
  return holderOf({ ...trace, createdAt: endpoint?.createdAt });
}

function describeKept(id: string, { baseUrl }: EndpointState, other: Holder): string {
  const kept = `endpoint ${id} is not deleted: another resource of this program has it`;
  if (other === "somebody") return `${kept}.`;
  return (
    `${kept}, or one with the same id, url and type at another base URL or in another account. The deleted resource was registered at ` +
    `${baseUrl}. If its endpoint is still there and no resource has it, delete it at the service.`
  );
}
