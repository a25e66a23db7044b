import { type Endpoint, WebhookEndpointNotFoundError } from "../../client";
import type { Clock } from "../../client/clock";
import { type Category, isUnwanted } from "../../settlement/category";
import { accept, close, closeAbsent, disown } from "../../settlement/decisions";
import type { Deployment } from "../../settlement/deployment";
import { endpointsOf } from "../../settlement/leftovers";
import { handedOverOf } from "../../settlement/pendingResource";
import { isAlive } from "../../settlement/processes";
import type { Stack } from "../../settlement/stack";
import { holderAmong, traceOfEndpoint } from "../../settlement/trace";
import type { Turns } from "../../settlement/turns";
import { chooseEndpoint, chooseFate, type Dialogue } from "./dialogue";
import type { Case } from "./lookUp";

export interface RemediesOptions {
  readonly stack: Stack;
  readonly deployment: Deployment;
  readonly turns: Turns;
  readonly clock: Clock;
  readonly dialogue: Dialogue;
}

/** Carries out what a verdict asks for, and what a person decides. Each change is made in the turn of its url and type. */
export class Remedies {
  constructor(private readonly options: RemediesOptions) {}

  /** Returns false if a person has to decide something and did not. */
  async apply(each: Case, category: Category): Promise<boolean> {
    const { verdict, sources } = each;
    const [endpoint] = endpointsOf(verdict.decision);
    switch (category) {
      case "nothing":
        closeAbsent(verdict.by, sources.book, sources.asker);
        return true;
      case "unknowable":
        return false;
      case "in-doubt":
        return this.#choose(each);
      case "unwanted":
        return endpoint !== undefined && this.#decideFate(each, endpoint);
      case "taken-over": {
        const [by] = verdict.by;
        // The state forgets operations, and the book does not.
        if (endpoint && by?.entry === undefined) await this.#accept(each, endpoint, by);
        return true;
      }
    }
  }

  /** Asks for each pending registration which endpoint it made. Where no resource will take any, that makes no difference. */
  async #choose(each: Case): Promise<boolean> {
    const { dialogue, deployment } = this.options;
    const { verdict, sources } = each;
    const { ask, say } = dialogue;
    const candidates = endpointsOf(verdict.decision);
    if (candidates.every((endpoint) => isUnwanted(verdict, endpoint, deployment))) {
      for (const endpoint of candidates) if (!(await this.#decideFate(each, endpoint))) return false;
      return true;
    }
    let left = candidates;
    const chosen: Endpoint[] = [];
    for (const [index] of verdict.by.entries()) {
      const which = verdict.by.length === 1 ? "" : ` (${index + 1} of ${verdict.by.length})`;
      const answer = await chooseEndpoint(verdict, { left, which, ask });
      if (answer === undefined) return false;
      if (answer === "none") break;
      chosen.push(answer);
      left = left.filter((endpoint) => endpoint !== answer);
    }
    for (const endpoint of left) await this.#disown(each, endpoint);
    closeAbsent(verdict.by.slice(chosen.length), sources.book, sources.asker);
    for (const [index, endpoint] of chosen.entries()) {
      const doubt = await this.#accept(each, endpoint, verdict.by[index]);
      say(
        doubt === undefined
          ? `The next \`pulumi up\` takes over ${endpoint.id}.`
          : `\`pulumi up\` cannot take over ${endpoint.id}, because ${doubt}. Set adoptId: ${JSON.stringify(endpoint.id)}.`,
      );
    }
    return true;
  }

  async #decideFate(each: Case, endpoint: Endpoint): Promise<boolean> {
    const { dialogue } = this.options;
    const fate = await chooseFate(each.verdict, endpoint, dialogue.ask);
    if (fate === undefined) return false;
    if (fate === "delete") return this.#delete(each, endpoint);
    await this.#disown(each, endpoint);
    close(each.verdict.by, each.sources.book);
    dialogue.say(`${endpoint.id} stays at the service, and is forgotten.`);
    return true;
  }

  /** Deletes an endpoint, unless something has changed since a person was asked. */
  async #delete({ verdict, account, sources }: Case, endpoint: Endpoint): Promise<boolean> {
    const { dialogue, stack, turns } = this.options;
    const deleted = await turns.take(endpoint, async () => {
      const kept = (why: string) => {
        dialogue.say(`${endpoint.id} is kept: ${why}.`);
        return false;
      };
      if (verdict.by.some(({ entry }) => entry?.sent && isAlive(entry.process, entry.sent.at)))
        return kept("the run that registered it is still under way");
      const state = await stack.stateNow();
      if (state === undefined) return kept("the stack's state cannot be read");
      const shown = traceOfEndpoint(endpoint, sources.asker.origin);
      if (state.holderOf(shown) !== "nobody") return kept("a resource has this id");
      const current = await sources.service.find(endpoint.id);
      if (current && holderAmong([shown], traceOfEndpoint(current, sources.asker.origin)) !== "somebody")
        return kept("it has changed since it was shown");
      await account.client.delete(endpoint.id).catch((error: unknown) => {
        if (!(error instanceof WebhookEndpointNotFoundError)) throw error;
      });
      close(verdict.by, sources.book);
      dialogue.say(`Deleted ${endpoint.id}.`);
      return true;
    });
    return deleted === true;
  }

  async #disown({ sources: { book, asker } }: Case, endpoint: Endpoint): Promise<void> {
    const { stack, turns } = this.options;
    await turns.take(endpoint, async () => disown(endpoint, { book, asker, stack }));
  }

  /** Returns why `up` would not take the endpoint over all the same, as the end of a sentence. */
  async #accept(
    { verdict, sources: { book, asker, evidence } }: Case,
    endpoint: Endpoint,
    by: Case["verdict"]["by"][number] | undefined,
  ): Promise<string | undefined> {
    const { stack, turns, clock } = this.options;
    if (by === undefined) return undefined;
    await turns.take(endpoint, async () => accept(by, endpoint, { book, asker, stack }, clock.date()));
    const { resource } = verdict;
    const { pending } = await evidence.about(
      { ...endpoint, anyIp: true },
      resource && handedOverOf(resource),
    );
    return pending.find(({ id, others }) => id === endpoint.id && !others)?.doubt;
  }
}
