import type * as dynamic from "@pulumi/pulumi/dynamic";
import { systemClock } from "../client/clock";
import { isProvisional } from "../settlement/identity";
import { sameUrl } from "../shared/url";
import { assertNotTooLate } from "./adoption";
import { changedArguments, checkArguments, NAME_INPUT } from "./arguments";
import { deleteEndpoint } from "./deletion";
import { connectEngine } from "./engine";
import { aboutResource, EndpointError, explained, PendingError } from "./errors";
import { assertSameDoor } from "./handover";
import { type Run, type RunOptions, startRun } from "./run";
import { isPending, isRecorded, stateOf } from "./state";
import type { EndpointInputs, EndpointState } from "./types";

/** Inputs and state as the plugin passes them: with the provider's own code added. */
type WithProvider<T> = T & { __provider?: string };

/**
 * Returns the six verbs over the service's register, get and delete. A change of url, type or ip replaces; what the service
 * does not know is gone; nothing is changed in place, because the service cannot. docs/pulumi-engine.md describes how the
 * engine calls the verbs and what it makes of their answers.
 */
export function createProvider(options: Partial<RunOptions> = {}) {
  const { environment = process.env, engine = connectEngine(), clock = systemClock } = options;
  let configuration: dynamic.Config | undefined;
  let started: ReturnType<typeof startRun> | undefined;

  // Resolved in the verbs, not in `configure`: the plugin does not call one that throws again (engine rule 1).
  const start = () => {
    started ??= startRun((key) => configuration?.get(key), { environment, engine, clock });
    return started;
  };
  const requireRun = (): Run => {
    const result = start();
    if ("run" in result) return result.run;
    throw new EndpointError("SETTINGS_INVALID", result.problems.join("; "));
  };

  return explained({
    async configure(request: dynamic.ConfigureRequest): Promise<void> {
      configuration = request.config;
      started = undefined;
    },

    async check(
      olds: WithProvider<Partial<EndpointInputs>>,
      news: WithProvider<Record<string, unknown>>,
    ): Promise<dynamic.CheckResult> {
      const { [NAME_INPUT]: name, ...args } = news;
      const { problems, warnings } = checkArguments(args);
      const result = start();
      if ("problems" in result)
        problems.push(...result.problems.map((problem) => `${problem} (SETTINGS_INVALID)`));
      else if (problems.length === 0) {
        const { duplicates, handover, log, nameLeftovers, stacks } = result.run;
        // Before this run changes it: the state shows what interrupted runs began, and when they wrote it last (engine rule 39).
        if (olds.url === undefined) await (await stacks.current())?.state();
        await nameLeftovers();
        for (const warning of warnings) log.warn(aboutResource(name, warning));
        duplicates.noteName(args, name);
        if (olds.adoptId !== news.adoptId) handover.noteNewAdoption(args as unknown as EndpointInputs);
        if (olds.url === undefined) problems.push(...(await duplicates.preview(args, name)));
      }
      // A program passes null for "none". The state would keep it as a value.
      const inputs = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
      return { inputs, failures: problems.map((reason) => ({ property: "", reason })) };
    },

    async diff(
      id: string,
      olds: WithProvider<EndpointState>,
      news: WithProvider<EndpointInputs>,
    ): Promise<dynamic.DiffResult> {
      const { handover, ledger, nameLeftovers, origins, service } = requireRun();
      await nameLeftovers();
      const replaces: string[] = changedArguments(olds, news);
      // Settled by `create` only if the program still wants what was sent, where it was sent. Otherwise by its own `delete`.
      const wantsSame = replaces.length === 0;
      const pending = olds.pending && !origins.isOtherService(olds) ? { id, ...olds.pending } : undefined;
      if (isProvisional(id)) {
        assertSameDoor(olds, news);
        if (!(await origins.isOtherProvider(id, olds))) origins.assertSameService(id, olds);
        origins.warnOfOtherKey(id, olds);
        replaces.push("pending");
      }
      const ofRefresh = ledger.endRefresh(id);
      if (!ofRefresh && !isProvisional(id) && handover.isNewAdoption(news))
        await assertNotTooLate(id, { olds, news }, service);
      // Otherwise the ledger must not hear of it: the id may be another endpoint's here.
      const isHere = ofRefresh || (await origins.isHere(id, olds));
      if (isHere && ledger.has(id, "made")) replaces.push("id");
      if (isHere) ledger.note(id, "owned");
      if (!ofRefresh) {
        const mayMove = !isHere && (replaces.length === 0 || origins.isOtherService(olds));
        if (mayMove) replaces.push(await origins.reasonToMove(id, olds));
        if (isHere) ledger.note(id, replaces.length === 0 ? "kept" : "replaced");
        if (replaces.length > 0) handover.announce({ id, pending, wantsSame }, news);
      }
      const movedService = !ofRefresh && origins.isOtherService(olds);
      return {
        changes: replaces.length > 0 || movedService || olds.__provider !== news.__provider,
        replaces,
      };
    },

    async create(inputs: WithProvider<EndpointInputs>): Promise<dynamic.CreateResult> {
      const { handover, origin, registrar, stacks, warnOfUnread } = requireRun();
      stacks.goOn();
      const replaced = handover.take(inputs);
      try {
        const endpoint = await registrar.create(inputs, replaced);
        await warnOfUnread();
        return { id: endpoint.id, outs: stateOf(endpoint, inputs, origin) };
      } catch (error) {
        // The plugin adds the provider's code to the state of what was made, but not of what was half-made.
        if (error instanceof PendingError) Object.assign(error.properties, { __provider: inputs.__provider });
        // A hook may make the engine call `create` again (engine rule 30).
        if (replaced) handover.announce(replaced, inputs);
        throw error;
      }
    },

    async read(id: string, props: WithProvider<Partial<EndpointState>> = {}): Promise<dynamic.ReadResult> {
      const { ledger, origin, origins, registrar, service, takings } = requireRun();
      if (!isRecorded(props)) {
        const endpoint = await service.find(id);
        if (!endpoint) {
          throw new EndpointError(
            "ENDPOINT_NOT_FOUND",
            `the service has no endpoint ${id}. Check the id, and that the API key belongs to its account.`,
          );
        }
        const state = { ...stateOf(endpoint, endpoint, origin), external: true };
        return { id, props: state, inputs: { url: endpoint.url, type: endpoint.type } };
      }
      const { external, ip, type } = props;
      const pending = isPending(props);
      if (pending) origins.assertSameService(id, props);
      if (!external && !origins.isElsewhere(props)) ledger.note(id, "owned");
      const endpoint = pending
        ? await registrar.settleForRead(id, props)
        : await service.findNew(id, takings.newForMs(id, props));
      if (!origins.isSameEndpoint(props, endpoint)) {
        origins.concludeGone(id, props);
        if (!pending) origins.countMiss();
        return {};
      }
      // A resource whose registration was pending has just taken this endpoint over, so this resource loses it.
      if (!external && !pending && ledger.has(id, "recovered")) return {};
      if (!external) {
        ledger.note(endpoint.id, "owned");
        ledger.note(endpoint.id, "refreshed");
      }
      const url = sameUrl(props.url, endpoint.url) ? props.url : endpoint.url;
      const inputs = { url, type: endpoint.type, ...(ip && { ip }) };
      const state = { ...stateOf(endpoint, inputs, origin), ...(external && { external }) };
      // The declared inputs stay, unless somebody changed the endpoint: then the next `up` puts it right.
      const changed = props.url !== url || type !== endpoint.type;
      return { id: endpoint.id, props: state, ...(changed && { inputs }) };
    },

    /** Called only when the provider's own code, a lifecycle option or the service's address changed (engine rule 4). */
    async update(_id: string, olds: WithProvider<EndpointState>): Promise<dynamic.UpdateResult> {
      const result = start();
      // The default provider has no name that would replace another's.
      const { provider: _provider, ...rest } = olds;
      return { outs: "run" in result ? { ...rest, ...result.run.origin } : olds };
    },

    async delete(id: string, state: WithProvider<EndpointState>): Promise<void> {
      const run = requireRun();
      await run.nameLeftovers();
      await deleteEndpoint(id, state, run);
    },
  });
}

/**
 * The instance that users' state names for ever, through the constant that each resource carries. Its subpath and its name
 * are a promise: state written by the first release loads them from the last one.
 */
export const provider = createProvider();
