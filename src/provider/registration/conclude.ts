import type { Endpoint } from "../../client";
import { sleep } from "../../client/clock";
import { describeUrl } from "../../shared/url";
import { countOf, joined } from "../../shared/words";
import type { Context } from "../context";
import type { Resource, Wanted } from "../facts/exportedState";
import { ownersIn } from "../facts/owner";
import type { Evidence } from "../facts/registrationEvidence";
import type { Proof } from "../facts/stack";
import type { StackState } from "../facts/stackState";
import { LAG_MS, WORTH_A_LINE_MS } from "../facts/time";
import { isDenial, type Listing } from "../service";
import type { EndpointInputs } from "../state";
import { type Decision, decide, endpointOf, type Facts, type Wish } from "./decide";
import type { Known } from "./matchEvidence";

/**
 * How long `create` looks for a registration without a response at least, in milliseconds since it was sent; otherwise `timeoutSeconds`. What is
 * made later, within the grace period, the next command finds.
 */
const LEAST_LOOK_MS = 5_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2_000;

/** A decision that no wait can change, and the list that it is about. */
interface Conclusion {
  readonly decision: Decision;
  readonly list: Listing;
  /** As in `Facts`. */
  readonly proof: Proof | undefined;
  /** Why the state did not count, if it did not: a sentence for a message. */
  readonly whyWithoutState: string | undefined;
}

/** What is known whatever the next list shows. */
type Gathered = Pick<Facts, "named" | "known" | "withoutState">;

/** Gathers what is known about a resource, and asks and waits until `decide` can tell what it gets. */
export class Conclusions {
  #hasWarned = false;

  constructor(private readonly context: Context) {}

  /** Decides what `create` would give a resource, as far as a list tells now. Waits for nothing, and asks for no proof. */
  async preview(inputs: EndpointInputs): Promise<Decision> {
    const { graceMs, service } = this.context;
    const [list, gathered] = await Promise.all([service.list(), this.#gather(inputs)]);
    return decide(creationOf(inputs), { ...gathered, list, graceMs, waitedMs: 0 }).decision;
  }

  /** Decides what `create` gives a resource. */
  async forCreate(inputs: EndpointInputs): Promise<Conclusion> {
    return this.#conclude(creationOf(inputs), await this.#gather(inputs), () =>
      this.context.stack.prove(inputs),
    );
  }

  /** Decides what a pending resource has made. */
  async forPending(wanted: Wanted, own: Evidence): Promise<Conclusion> {
    const state = await this.context.stack.state();
    return this.#conclude({ verb: "settle", wanted }, { known: this.#known(state, [own], wanted) });
  }

  /**
   * Asks, and waits while the decision may still be another one.
   *
   * @param prove called at most once, and only if the decision needs it
   */
  async #conclude(wish: Wish, gathered: Gathered, prove?: () => Promise<Proof>): Promise<Conclusion> {
    const { clock, cancelled, existence, graceMs, service, stack } = this.context;
    let proof: Proof | undefined;
    let isStale = false;
    let list = await service.list();
    const firstSentAt = list.sentAt;
    const listAfter = async (milliseconds: number) => {
      await sleep(milliseconds, { clock, signal: cancelled });
      // Fails if the run was cancelled.
      list = await service.listNow();
    };
    const concluded = (decision: Decision): Conclusion => ({
      decision,
      list,
      proof,
      whyWithoutState: proof?.proven === false ? proof.why : stack.whyNotRead,
    });
    for (let pauseMs = FIRST_PAUSE_MS; ; ) {
      const waitedMs = list.sentAt - firstSentAt;
      const facts = { ...gathered, proof, isStale, list, graceMs, waitedMs };
      const { decision, needsProof } = decide(wish, facts);
      const found = endpointOf(decision);
      if (needsProof && prove) {
        proof = await prove();
      } else if (decision.kind === "wait") {
        if (pauseMs === FIRST_PAUSE_MS) this.#say(wish.wanted, decision.milliseconds);
        await listAfter(Math.min(pauseMs, decision.milliseconds));
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      } else if (found && found !== gathered.named) {
        // A list may show what is being deleted. What `adoptId` names was asked for already.
        const verb = decision.kind === "adopt" ? "adopt" : "take over";
        if (await existence.confirm(found, verb)) return concluded(decision);
        list = await service.list();
      } else if (!restsOnWhatIsMissing(decision, wish) || !(await this.#isStale(list))) {
        return concluded(decision);
      } else if (waitedMs < LAG_MS) {
        await listAfter(LAG_MS - waitedMs);
      } else {
        isStale = true;
      }
    }
  }

  /**
   * Looks for what a registration of this run has made, until its time is up or it is in doubt. Returns undefined if nothing certainly is it, or the
   * run is cancelled. Only something found counts, so it needs no second list: the caller keeps the registration pending.
   *
   * @param own what the registration says of itself
   * @param processSentAt when it was sent, on this process's clock; undefined: it looks once
   */
  async lookFor(
    wanted: Wanted,
    own: Evidence,
    processSentAt: number | undefined,
  ): Promise<Endpoint | undefined> {
    const { clock, cancelled, graceMs, service, stack, timeoutMs } = this.context;
    const until = processSentAt === undefined ? 0 : processSentAt + Math.max(timeoutMs, LEAST_LOOK_MS);
    const known = this.#known(await stack.state(), [own], wanted);
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      // None once the run is cancelled.
      const list = await service.listNow().catch(() => undefined);
      const wish = { verb: "settle", wanted } as const;
      const decision = list && decide(wish, { known, list, graceMs, waitedMs: 0 }).decision;
      const found = decision && endpointOf(decision);
      if (found) return found;
      const leftMs = until - clock.now();
      if (decision?.kind === "doubt" || leftMs <= 0 || cancelled?.aborted) return undefined;
      if (pauseMs === FIRST_PAUSE_MS) this.#say(wanted, leftMs);
      await sleep(Math.min(pauseMs, leftMs), { clock, signal: cancelled });
    }
  }

  /** Returns whether the `adoptId` of a resource has no effect any more, as far as this run and the state tell. */
  async isSpent(inputs: EndpointInputs): Promise<boolean> {
    return this.#isSpentIn(await this.context.stack.state(), inputs);
  }

  /** @param state undefined: only what this run knows counts */
  #isSpentIn(state: StackState | undefined, inputs: EndpointInputs): boolean {
    const { declarations } = this.context;
    const isSpent = (urn: string) => state?.isSpent(urn, inputs.adoptId) ?? false;
    return declarations.isSpent(inputs) || declarations.urnsOf(inputs).some(isSpent);
  }

  async #gather(inputs: EndpointInputs): Promise<Gathered> {
    const { declarations, origin, registrations, service, stack } = this.context;
    const state = await stack.state();
    const urns = declarations.urnsOf(inputs);
    const inState = state?.evidence({ wanted: inputs, urns, origin }) ?? [];
    const open = inState.filter((each) => !registrations.isClosed(each));
    // The engine may pass a verb what the state, as it was read, did not have.
    const passed = registrations.pendingLike(inputs);
    const more = passed.filter(({ id }) => open.every((each) => each.id !== id));
    const known = {
      ...this.#known(state, [...open, ...more], inputs, urns),
      isSpent: this.#isSpentIn(state, inputs),
    };
    const withoutState = {
      ...this.#known(undefined, passed, inputs, urns),
      isSpent: this.#isSpentIn(undefined, inputs),
    };
    const { adoptId } = inputs;
    const found = adoptId === undefined || withoutState.isSpent ? undefined : await service.get(adoptId);
    const named = found && !isDenial(found) ? found : undefined;
    return { known, withoutState, named };
  }

  /** @param state undefined: only what this run knows counts @param urns of the resource that it is about, as far as they are known */
  #known(
    state: StackState | undefined,
    evidence: readonly Evidence[],
    { url }: Wanted,
    urns: readonly string[] = [],
  ): Known {
    const { declarations } = this.context;
    const declares = (other: string) =>
      declarations.hasNewUrl(other) || (state?.declares(other, urns) ?? false);
    return {
      evidence,
      ownerOf: ownersIn(state, this.context),
      declares: (other) => other !== url && declares(other),
      isSpent: false,
    };
  }

  /**
   * Returns whether a list lacks endpoints of the stack that there are: then it may lack what is looked for, too. Which ones there should be, the
   * state says, whether it is proven or not.
   */
  async #isStale(list: Listing): Promise<boolean> {
    const { endpoints, existence, origin, stack } = this.context;
    // One that says that it is partial lacks what it likes.
    if (!list.complete) return false;
    const recorded = (await stack.state())?.expectedAt(origin) ?? [];
    const known = new Set([...endpoints.had, ...recorded.map(({ id = "" }) => id)]);
    const isLost = ({ id = "", outputs }: Resource) =>
      endpoints.isExpected(id) && !list.rowsById.has(id) && !existence.mayLag({ ...outputs });
    const lost = recorded.filter(isLost);
    const isStale = await existence.isStale(
      list,
      [...known].filter((id) => endpoints.isExpected(id)),
    );
    if (!isStale) this.#warnOf(lost);
    return isStale;
  }

  /** Warns once of what the service no longer lists. `up` asks for nothing that is unchanged, so it sees that only where a decision rests on what a list lacks. */
  #warnOf(lost: readonly Resource[]): void {
    if (lost.length === 0 || this.#hasWarned) return;
    this.#hasWarned = true;
    this.context.log.warn(
      `the service no longer lists ${countOf(lost.length, "endpoint")} of this stack: ${joined(lost.map(({ id = "" }) => id))}. \`pulumi up\` does not ` +
        "look for what is unchanged. To register again what this program declares, run `pulumi up --refresh`.",
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

function creationOf({ url, type, ip, adoptId, ifExists = "fail" }: EndpointInputs): Wish {
  return { verb: "create", wanted: { url, type, ip }, adoptId, ifExists };
}

/**
 * Whether a decision to give nothing, or something new, rests on what a list lacks, so that a stale one would make it wrong. Not asked for
 * `ifExists: "register"`: then the user wants another one, whatever there is.
 */
function restsOnWhatIsMissing({ kind }: Decision, wish: Wish): boolean {
  return kind === "none" || (kind === "register" && wish.verb === "create" && wish.ifExists !== "register");
}
