import type * as dynamic from "@pulumi/pulumi/dynamic";
import { systemClock } from "../client/clock";
import { foreign } from "../shared/escape";
import { UNKNOWN_VALUE } from "../shared/optionChecks";
import { AFTER_INPUT } from "../shared/permanent";
import { changedArguments, checkArguments, declaredArguments, recordedArguments } from "./arguments";
import { aboutResource, connectEngine } from "./engine";
import { EndpointError, explained, PendingError, settingsUnusable } from "./errors";
import { isRecordedUrl } from "./facts/same";
import { noteHiddenInputs } from "./hiddenInputs";
import { mustNotMove } from "./registration/refusals";
import { isDenial } from "./service";
import { type Run, type RunOptions, startRun } from "./startRun";
import {
  type EndpointInputs,
  type EndpointState,
  isPending,
  isRecorded,
  recognitionOf,
  stateOf,
} from "./state";

/** Inputs and state as the plugin passes them: with the provider's own code added. */
type WithProvider<T> = T & { __provider?: string };

/**
 * Returns the six verbs over the service's register, get, list and delete. A change of url, type or ip replaces; what the service does
 * not know is gone; nothing is changed in place, because the service cannot. docs/pulumi-engine.md describes how the engine calls the
 * verbs and what it makes of their results.
 */
export function createProvider(options: Partial<RunOptions> = {}) {
  const { environment = process.env, engine = connectEngine(), clock = systemClock } = options;
  let configuration: dynamic.Config | undefined;
  let started: ReturnType<typeof startRun> | undefined;

  // Resolved in the verbs, not in `configure`: the plugin does not call one that throws again (engine rule 1).
  const start = () => {
    started ??= startRun((key) => configuration?.get(key), { ...options, environment, engine, clock });
    return started;
  };
  const requireRun = (): Run => {
    const result = start();
    if ("run" in result) return result.run;
    throw settingsUnusable(result.problems);
  };

  return explained({
    async configure(request: dynamic.ConfigureRequest): Promise<void> {
      configuration = request.config;
      started = undefined;
    },

    async check(
      olds: WithProvider<Record<string, unknown>>,
      news: WithProvider<Record<string, unknown>>,
    ): Promise<dynamic.CheckResult> {
      const args = declaredArguments(news);
      // Of a replacement, the engine asks again without olds (engine rule 17).
      const willCreate = olds.url === undefined;
      const { problems, warnings } = checkArguments(args);
      const result = start();
      // What exists keeps its value: `stackState.ts` compares it with that of an interrupted creation, to tell whether that was recorded since.
      let after = willCreate ? news[AFTER_INPUT] : olds[AFTER_INPUT];
      if ("problems" in result)
        problems.push(...result.problems.map((problem) => `${problem} (SETTINGS_INVALID)`));
      else if (problems.length === 0) {
        const { creationCheck, declarations, ifExists, log, registrar } = result.run;
        const inputs = { ifExists, ...args } as unknown as EndpointInputs;
        const urn = noteHiddenInputs(result.run, news, inputs, willCreate);
        if (!willCreate && olds.adoptId !== undefined && olds.adoptId === args.adoptId)
          declarations.noteSpent(inputs);
        // Once: whoever keeps the endpoint as it is has read it.
        if (willCreate || olds.url !== args.url || olds.type !== args.type)
          for (const warning of warnings) log.warn(aboutResource(urn, warning));
        if (willCreate) {
          const otherAccount = await creationCheck.refusalOfAccount();
          problems.push(...otherAccount);
          // In turn: what an equal resource is about to get is not another's.
          const look = () => creationCheck.refusals(inputs, urn);
          if (otherAccount.length === 0) problems.push(...(await registrar.inTurn(inputs, look)));
        }
        // A proof knows this run's own operation by it (`stack.ts`). And if this run is killed, it dates the registration: an endpoint that was made
        // from 5 s before it until a grace period after it counts as made by that. One that was made later, as after a long wait for its turn, does
        // not (docs/architecture.md, "What stays impossible", 7). The program's class passes it, with an unknown value in a preview (engine rule 49).
        if (willCreate && after !== undefined && after !== UNKNOWN_VALUE)
          after = await creationCheck.serviceTime();
      }
      const inputs = {
        ...args,
        ...(news.__provider !== undefined && { __provider: news.__provider }),
        ...(after !== undefined && { [AFTER_INPUT]: after }),
      };
      return { inputs, failures: problems.map((reason) => ({ property: "", reason })) };
    },

    async diff(
      id: string,
      olds: WithProvider<EndpointState>,
      news: WithProvider<EndpointInputs>,
    ): Promise<dynamic.DiffResult> {
      const { declarations, endpoints, ifExists, log, originCheck, registrations } = requireRun();
      const replaces: string[] = changedArguments(olds, news);
      const isOtherPlugin = (olds.__provider === undefined) !== (news.__provider === undefined);
      if (isPending(olds)) {
        if (isOtherPlugin || originCheck.isOtherProvider(olds)) throw mustNotMove(olds);
        await originCheck.assertPendingIsHere(id, olds);
        registrations.notePending(id, olds);
        replaces.push("pending");
      }
      if (endpoints.endRefresh(id)) return { changes: replaces.length > 0, replaces };
      if (isPending(olds)) {
        const message =
          "its registration got no response. Replacing it settles what that made, which is taken over where it still is what is declared";
        log.info(declarations.aboutResource({ ifExists, ...news }, message));
      }
      const isHere = await originCheck.isHere(id, olds);
      if (isHere) {
        // A resource that adopted or took over this endpoint has it now.
        if (endpoints.isGiven(id)) replaces.push("id");
        if (!isPending(olds)) endpoints.noteDiff(id, olds, replaces.length > 0);
      } else {
        // There, the id may be another endpoint's.
        replaces.push(await originCheck.reasonToMove(id, olds));
      }
      const hasMoved = originCheck.isOtherService(olds) || olds.__provider !== news.__provider;
      return { changes: replaces.length > 0 || hasMoved, replaces };
    },

    async create(inputs: WithProvider<EndpointInputs>): Promise<dynamic.CreateResult> {
      const { accounts, ifExists, registrar } = requireRun();
      await accounts.assertNewIsHere();
      try {
        return await registrar.create({ ifExists, ...inputs });
      } catch (error) {
        // The plugin adds the provider's code to the state of what was made, but not of what was half-made.
        if (error instanceof PendingError) Object.assign(error.properties, { __provider: inputs.__provider });
        throw error;
      }
    },

    async read(id: string, props: WithProvider<Partial<EndpointState>> = {}): Promise<dynamic.ReadResult> {
      const { accounts, endpoints, existence, origin, originCheck, registrar } = requireRun();
      if (!isRecorded(props)) {
        const endpoint = await existence.look(id);
        if (isDenial(endpoint))
          throw new EndpointError(
            "NOT_FOUND",
            `the service has no endpoint ${foreign(id)}. Check the id, and that the API key belongs to its account.`,
          );
        const state = { ...stateOf(endpoint, endpoint, origin), external: true };
        return { id, props: state, inputs: { url: endpoint.url, type: endpoint.type } };
      }
      const { external, type } = props;
      const isOwn = !external && !originCheck.isElsewhere(props);
      accounts.note(id, props);
      if (isPending(props)) await originCheck.assertPendingIsHere(id, props);
      else if (isOwn) endpoints.noteHad(id, props);
      const endpoint = isPending(props)
        ? await registrar.settleForRead(id, props)
        : await existence.find(id, props);
      const isSame = isPending(props) || (await originCheck.isSameEndpoint(id, props, endpoint));
      if (endpoint === undefined || !isSame) {
        await originCheck.concludeGone(id, props);
        return {};
      }
      if (!external) endpoints.noteRead(endpoint);
      const url = isRecordedUrl(props, endpoint.url) ? props.url : endpoint.url;
      // The service returns only these: the others stay as declared.
      const args = { ...recordedArguments(props), url, type: endpoint.type };
      const recorded = { ...origin, ...recognitionOf(props), ...(external && { external }) };
      const state = stateOf(endpoint, args, recorded);
      // The declared inputs stay, unless somebody changed the endpoint: then the next `up` puts it right.
      const hasChanged = props.url !== url || type !== endpoint.type;
      return { id: endpoint.id, props: state, ...(hasChanged && { inputs: declaredArguments(args) }) };
    },

    /** Called only when the provider's own code, a lifecycle option or the service's address changed (engine rule 4). */
    async update(_id: string, olds: WithProvider<EndpointState>): Promise<dynamic.UpdateResult> {
      const result = start();
      // The default provider has no name that would replace another's.
      const { provider: _provider, ...rest } = olds;
      return { outs: "run" in result ? { ...rest, ...result.run.origin } : olds };
    },

    async delete(id: string, state: WithProvider<EndpointState>): Promise<void> {
      const { accounts, endpoints, existence, graceMs, log, originCheck, registrar } = requireRun();
      accounts.note(id, state);
      if (isPending(state)) {
        await originCheck.assertPendingIsHere(id, state);
        return registrar.settleForDelete(id, state);
      }
      return registrar.inTurn(state, async () => {
        if (endpoints.isSpared(id, state, graceMs)) {
          log.warn(
            `endpoint ${foreign(id)} is not deleted: another resource of this program has it, or names it in adoptId.`,
          );
          return;
        }
        const row = await existence.row(id, state);
        const isIts = await originCheck.isSameEndpoint(id, state, row);
        const isDeleted = isIts && (await existence.remove(id, state));
        if (!isDeleted) await originCheck.concludeGone(id, state, { isDeletion: true });
        else endpoints.noteDeleted(id);
      });
    },
  });
}

/**
 * The instance that users' state names for ever, through the constant that each resource carries. Its subpath and its name
 * are a promise: state written by the first release loads them from the last one.
 */
export const provider = createProvider();
