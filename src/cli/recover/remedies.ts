import type { Endpoint } from "../../client";
import type { Clock } from "../../client/clock";
import { undefinedIfGone } from "../../client/errors";
import type { Category } from "../../settlement/category";
import type { Pending } from "../../settlement/decide";
import { pendingResources } from "../../settlement/deployment";
import { type Entry, ipHash } from "../../settlement/entry";
import { endpointsOf } from "../../settlement/leftovers";
import type { Stack } from "../../settlement/stack";
import { closeAbsent } from "../../settlement/takings";
import { holderAmong, traceOfEndpoint } from "../../settlement/trace";
import type { Turns } from "../../settlement/turns";
import { isAtWork } from "../../shared/processes";
import { explainOwner, Ownership } from "../inventory/ownership";
import { readStacks } from "../inventory/stacks";
import type { Pulumi } from "../pulumi";
import { chooseFate, type Dialogue } from "./dialogue";
import type { Case } from "./lookUp";

interface RemediesOptions {
  readonly pulumi: Pulumi;
  readonly stack: Stack;
  readonly turns: Turns;
  readonly clock: Clock;
  readonly dialogue: Dialogue;
}

/** Carries out what a verdict asks for, and what a person decides. Each change is made in the turn of its url and type. */
export class Remedies {
  /** Once for all cases: what another stack takes later is seen before a deletion. */
  #reading: ReturnType<typeof readStacks> | undefined;

  constructor(private readonly options: RemediesOptions) {}

  /** Returns false if a person has to decide something and did not. */
  async apply(each: Case, category: Category): Promise<boolean> {
    const { verdict, sources } = each;
    const [endpoint] = endpointsOf(verdict.decision);
    const [by] = verdict.by;
    switch (category) {
      case "taken-over":
      case "perhaps-taken-over":
        if (endpoint && by && by.entry === undefined) await this.#accept(each, endpoint, by);
        return true;
      case "nothing":
        closeAbsent(verdict.by, sources.book, sources.asker);
        return true;
      case "unknowable":
        return false;
      case "in-doubt":
      case "unwanted":
        return this.#decide(each);
    }
  }

  /**
   * Asks about each endpoint, unless a resource of another stack has it by now. Once all of them are decided, nothing is left of the
   * registrations.
   */
  async #decide(each: Case): Promise<boolean> {
    const { dialogue, pulumi } = this.options;
    const { decision, by } = each.verdict;
    this.#reading ??= readStacks(pulumi, { alsoStacks: [] });
    const { known } = await dialogue.during(
      () => "Reading which endpoints other stacks manage…",
      this.#reading,
    );
    const owners = new Ownership(known, each.account.origin);
    let isDecided = true;
    for (const endpoint of endpointsOf(decision)) {
      const owner = owners.ownerOf(endpoint);
      if (owner?.kind === "manages") {
        await this.#disown(each, endpoint);
        dialogue.say(`${endpoint.id} stays: ${explainOwner(owner)}.`);
        continue;
      }
      const fate = await chooseFate(each.verdict, endpoint, dialogue.ask);
      const isDone =
        fate === "delete"
          ? await dialogue.during(
              () => `Reading the states again, before ${endpoint.id} is deleted…`,
              this.#delete(each, endpoint),
            )
          : fate === "keep";
      if (fate === "keep") {
        await this.#disown(each, endpoint);
        dialogue.say(`${endpoint.id} stays at the service, and is forgotten.`);
      }
      isDecided &&= isDone;
    }
    if (isDecided) for (const { entry } of by) if (entry) each.sources.book.close(entry);
    return isDecided;
  }

  /** Deletes an endpoint, unless something has changed since a person was asked. */
  async #delete({ verdict, account, sources }: Case, endpoint: Endpoint): Promise<boolean> {
    const { dialogue, pulumi, stack, turns } = this.options;
    const deleted = await turns.take(endpoint, async () => {
      const kept = (why: string) => {
        dialogue.say(`${endpoint.id} is kept: ${why}.`);
        return false;
      };
      if (verdict.by.some(({ entry }) => entry?.sent && isAtWork(entry.process, entry.sent.at)))
        return kept("the run that registered it is still under way");
      const state = await stack.stateNow();
      if (state === undefined) return kept("the stack's state cannot be read");
      const shown = traceOfEndpoint(endpoint, sources.asker.origin);
      if (state.holderOf(shown) !== "nobody") return kept("a resource has this id");
      const { known, unreadable } = await readStacks(pulumi, { alsoStacks: [] });
      const owner = new Ownership(known, account.origin).ownerOf(endpoint);
      if (owner !== undefined) return kept(explainOwner(owner) ?? "a resource has this id");
      const [gap] = unreadable;
      if (gap) return kept(`${gap.what} cannot be read, and may have it (${gap.why})`);
      // Its pending resource may have been moved there.
      const pendingIds = verdict.by.flatMap(({ entry }) => entry?.pendingId ?? []);
      const mover = known.find(
        ({ deployment, isSelected }) =>
          !isSelected && pendingResources(deployment).some(({ id = "" }) => pendingIds.includes(id)),
      );
      if (mover) return kept(`its registration is pending in the stack ${mover.name}`);
      const current = await sources.service.find(endpoint.id);
      if (current && holderAmong([shown], traceOfEndpoint(current, sources.asker.origin)) !== "somebody")
        return kept("it has changed since it was shown");
      await account.client.delete(endpoint.id).catch(undefinedIfGone);
      dialogue.say(`Deleted ${endpoint.id}.`);
      return true;
    });
    return deleted === true;
  }

  /** Writes down that what the state holds as interrupted or pending made an endpoint: the state may forget it before the next `up`. */
  async #accept(each: Case, endpoint: Endpoint, { ip, sentAt }: Pending): Promise<void> {
    const { resource } = each.verdict;
    const takenAt = this.options.clock.date();
    // It stands for the operation.
    const at = sentAt ?? takenAt;
    await this.#note(each, endpoint, {
      ...(ip && { ip }),
      ...(resource?.id === undefined ? {} : { pendingId: resource.id }),
      sent: { at, serviceTime: null, before: [], complete: false },
      takenAt,
    });
  }

  /** Writes down that an endpoint is not this stack's, for ever: nothing takes it, and nothing names it again. */
  #disown(each: Case, endpoint: Endpoint): Promise<void> {
    return this.#note(each, endpoint, { closed: true, foreign: true });
  }

  /** Begins an entry of no run. */
  async #note({ sources: { book, asker } }: Case, endpoint: Endpoint, fields: Partial<Entry>): Promise<void> {
    const { stack, turns } = this.options;
    const { id, createdAt } = endpoint;
    const stackBegan = await stack.began();
    const noRun = {
      ...asker.origin,
      stack: stack.name,
      stackBegan,
      run: "",
      sender: "",
      ip: ipHash(undefined),
    };
    await turns.take(endpoint, async () => book.begin({ ...noRun, id, createdAt, ...fields }, endpoint));
  }
}
