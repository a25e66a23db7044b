import type { Endpoint } from "../../client";
import { sleep } from "../../client/clock";
import { describeUrl } from "../../shared/url";
import type { Context } from "../context";
import type { Evidence } from "../facts/evidence";
import { isDenial } from "../facts/existence";
import { ownersIn } from "../facts/owner";
import type { Wanted } from "../facts/resource";
import type { Listing } from "../facts/service";
import type { StackState } from "../facts/stackState";
import { LAG_MS, WORTH_A_LINE_MS } from "../facts/time";
import type { EndpointInputs } from "../state";
import { type Decision, decide, type Facts, takenBy, type Wish } from "./decide";
import type { Source } from "./match";

/** How long a registration without a response is looked for at least, in milliseconds since it was sent. By default, `timeoutSeconds`. */
const LEAST_LOOK_MS = 5_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2_000;

/** A decision that no wait can change, and the list that it is about. */
export interface Conclusion {
  readonly decision: Decision;
  readonly list: Listing;
  /** Why the state was not believed, if it was not: a sentence for a message. */
  readonly doubt?: string | undefined;
}

/** What is known about a wish, whatever a list shows. */
type Known = Pick<Facts, "named" | "known" | "certain" | "doubted">;

/** Gathers what is known about a resource, and asks and waits until `decide` can tell what it gets. */
export class RegistrationSearch {
  constructor(private readonly context: Context) {}

  /** Decides what `create` would give a resource, as far as a list tells now. */
  async preview(inputs: EndpointInputs): Promise<Decision> {
    const { graceMs, service } = this.context;
    const [list, known] = await Promise.all([service.list(), this.#knownFor(inputs)]);
    return decide(wishFor(inputs, "preview"), { ...known, list, graceMs, waitedMs: 0 }).decision;
  }

  /** Decides what `create` gives a resource. */
  async forCreate(inputs: EndpointInputs): Promise<Conclusion> {
    const known = await this.#knownFor(inputs);
    return this.#conclude(wishFor(inputs, "create"), known, inputs);
  }

  /** Decides what a pending resource has made. */
  async forPending(verb: "read" | "delete", wanted: Wanted, own: Evidence): Promise<Conclusion> {
    const state = await this.context.stack.state();
    const known = this.#source(state, [own], wanted);
    return this.#conclude({ wanted, verb, ifExists: "fail" }, { known });
  }

  /** Asks, and waits while the decision may still be another one. @param inputs what a proof is about; undefined: nothing needs one */
  async #conclude(wish: Wish, known: Known, inputs?: EndpointInputs): Promise<Conclusion> {
    const { clock, cancelled, existence, graceMs, service, stack } = this.context;
    let [facts, doubt]: [Known, string | undefined] = [known, undefined];
    let list = await service.list();
    const firstSentAt = list.sentAt;
    const listAfter = async (milliseconds: number) => {
      await sleep(milliseconds, { clock, signal: cancelled });
      // Fails if the run was cancelled.
      list = await service.listNow();
    };
    for (let pauseMs = FIRST_PAUSE_MS; ; ) {
      const waitedMs = list.sentAt - firstSentAt;
      const { decision, needsProof } = decide(wish, { ...facts, list, graceMs, waitedMs });
      const proof = needsProof && inputs ? await stack.prove(inputs) : undefined;
      if (proof?.proven === false) {
        doubt = proof.why;
        facts = withoutState(facts);
      } else if (decision.kind === "wait") {
        if (pauseMs === FIRST_PAUSE_MS) this.#say(wish.wanted, decision.milliseconds);
        await listAfter(Math.min(pauseMs, decision.milliseconds));
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      } else if (decision.kind === "adopt" && decision.endpoint !== facts.named) {
        const endpoint = await existence.confirm(decision.endpoint);
        if (endpoint !== undefined) return { decision: { kind: "adopt", endpoint }, list, doubt };
        list = await service.list();
      } else if (!mayBeAbsence(decision) || wish.ifExists === "register" || !(await this.#isStale(list))) {
        return { decision, list, doubt: doubt ?? stack.unreadable };
      } else if (waitedMs >= LAG_MS) {
        return { decision: { kind: "unknowable", isStale: true }, list, doubt };
      } else {
        await listAfter(LAG_MS - waitedMs);
      }
    }
  }

  /**
   * Looks for what a registration of this run has made, until its time is up. Returns undefined if none is certain, or the
   * run is cancelled.
   *
   * @param processSentAt on this process's clock; undefined: it looks once
   */
  async lookFor(
    wanted: Wanted,
    fresh: Evidence,
    processSentAt: number | undefined,
  ): Promise<Endpoint | undefined> {
    const { clock, cancelled, graceMs, service, stack, timeoutMs } = this.context;
    const until = processSentAt === undefined ? 0 : processSentAt + Math.max(timeoutMs, LEAST_LOOK_MS);
    const known = this.#source(await stack.state(), [fresh], wanted);
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      // None once the run is cancelled.
      const list = await service.listNow().catch(() => undefined);
      const wish = { wanted, verb: "read", ifExists: "fail" } as const;
      const decision = list && decide(wish, { known, list, graceMs, waitedMs: 0 }).decision;
      if (decision && takenBy(decision)) return takenBy(decision);
      const leftMs = until - clock.now();
      if (decision?.kind === "doubt" || leftMs <= 0 || cancelled?.aborted) return undefined;
      if (pauseMs === FIRST_PAUSE_MS) this.#say(wanted, leftMs);
      await sleep(Math.min(pauseMs, leftMs), { clock, signal: cancelled });
    }
  }

  /** Returns whether the `adoptId` of a resource has no effect any more, as far as this run and the state tell. */
  async isSpent(inputs: EndpointInputs): Promise<boolean> {
    const { declarations, stack } = this.context;
    const state = await stack.state();
    const isAt = (urn: string) => state?.isSpent(urn, inputs.adoptId) ?? false;
    return declarations.isSpent(inputs) || declarations.urnsOf(inputs).some(isAt);
  }

  async #knownFor(inputs: EndpointInputs): Promise<Known> {
    const { declarations, origin, registrations, service, stack } = this.context;
    const state = await stack.state();
    const urns = declarations.urnsOf(inputs);
    const recorded = state?.evidence({ wanted: inputs, urns, origin }) ?? [];
    const noted = registrations.pendingLike(inputs);
    const more = noted.filter(({ id }) => recorded.every((each) => each.id !== id));
    const open = recorded.filter((each) => !registrations.isClosed(each));
    const isSpent = declarations.isSpent(inputs);
    const { adoptId } = inputs;
    const isSpentInState = adoptId !== undefined && urns.some((urn) => state?.isSpent(urn, adoptId) ?? false);
    const known = {
      ...this.#source(state, [...open, ...more], inputs, urns),
      isSpent: isSpent || isSpentInState,
    };
    const certain = { ...this.#source(undefined, noted, inputs, urns), isSpent };
    const found = adoptId === undefined || isSpent ? undefined : await service.get(adoptId);
    const named = found && !isDenial(found) ? found : undefined;
    return { known, certain, named };
  }

  /** @param urns of the resource that it is about, as far as they are known */
  #source(
    state: StackState | undefined,
    evidence: readonly Evidence[],
    { url }: Wanted,
    urns: readonly string[] = [],
  ): Source {
    const { declarations } = this.context;
    const declares = (other: string) => declarations.hasUrl(other) || (state?.declares(other, urns) ?? false);
    return {
      evidence,
      ownerOf: ownersIn(state, this.context),
      declares: (other) => other !== url && declares(other),
      isSpent: false,
    };
  }

  /** Returns whether a list lacks endpoints of the stack that there are: then it lacks what is looked for, too. */
  async #isStale(list: Listing): Promise<boolean> {
    const { endpoints, existence, origin, stack } = this.context;
    // One that says that it is partial lacks what it likes.
    if (!list.complete) return false;
    const recorded = (await stack.state())?.idsOf(origin) ?? [];
    const known = new Set([...endpoints.had, ...recorded]);
    return existence.isStale(
      list,
      [...known].filter((id) => endpoints.isExpected(id)),
    );
  }

  #say({ url }: Wanted, milliseconds: number): void {
    if (milliseconds < WORTH_A_LINE_MS) return;
    const seconds = Math.ceil(milliseconds / 1000);
    this.context.log.info(
      `waiting up to ${seconds} s in case the registration of ${describeUrl(url)} completes late`,
    );
  }
}

function wishFor(inputs: EndpointInputs, verb: "create" | "preview"): Wish {
  const { url, type, ip, adoptId, ifExists = "fail" } = inputs;
  return { wanted: { url, type, ip }, verb, adoptId, ifExists };
}

/** Another backend may have a stack of the same names: then only this run's own work counts. */
function withoutState({ named, known, certain = known }: Known): Known {
  return { named, known: certain, doubted: known };
}

/** Whether a decision rests on what a list lacks. */
function mayBeAbsence({ kind }: Decision): boolean {
  return kind === "register" || kind === "none";
}
