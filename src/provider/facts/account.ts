import type { Endpoint, EndpointList } from "../../client";
import { COMMAND, quoted } from "../../shared/commandLine";
import { foreign } from "../../shared/escape";
import { isPendingId, type Origin } from "../../shared/permanent";
import { EndpointError } from "../errors";
import type { Service } from "../service";
import type { EndpointState } from "../state";
import { hasEndpoint, isReplaced, providerNameOf, type Resource, wantedBy } from "./exportedState";
import { isAsRecorded } from "./same";
import type { Stack } from "./stack";

/** How many endpoints are asked for alone, where the service lists only a part. */
const MOST_GETS = 3;

/** An endpoint as a resource records it, with a url that is not encrypted. */
interface RecordedEndpoint extends Pick<Endpoint, "id" | "url"> {
  readonly type: string;
  readonly storedAs?: unknown;
}

/**
 * Returns whether a service has any of some recorded endpoints, with its id, its type and its url: ids may count for each account. Then the
 * key that they were recorded with is of the account that the list is of. An endpoint whose url the state encrypts proves nothing.
 *
 * @param get reads one endpoint. Asked only if the list is partial
 */
async function hasAnyOf(
  recorded: readonly RecordedEndpoint[],
  { complete, endpoints }: EndpointList,
  get: (id: string) => Promise<object | undefined>,
): Promise<boolean> {
  const byId = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
  const isIt = (each: RecordedEndpoint, found: Partial<Endpoint> | undefined) =>
    found?.url !== undefined &&
    found.type !== undefined &&
    isAsRecorded(each, { url: found.url, type: found.type });
  if (recorded.some((each) => isIt(each, byId.get(each.id)))) return true;
  const asked = complete ? [] : recorded.slice(0, MOST_GETS);
  const found = await Promise.all(asked.map(async (each) => isIt(each, await get(each.id))));
  return found.includes(true);
}

/** Returns the fingerprints of the keys of an account: today's, and those that endpoints were recorded with that it has. */
export async function keysOf(
  { account, baseUrl }: Origin,
  resources: readonly Resource[],
  { list, get }: { readonly list: EndpointList; readonly get: (id: string) => Promise<object | undefined> },
): Promise<Set<string>> {
  const keys = new Set([account]);
  for (const [key, recorded] of byKey(resources, baseUrl))
    if (!keys.has(key) && (await hasAnyOf(recorded, list, get))) keys.add(key);
  return keys;
}

function byKey(resources: readonly Resource[], baseUrl: string): Map<string, RecordedEndpoint[]> {
  const found = new Map<string, RecordedEndpoint[]>();
  for (const resource of resources) {
    const { id = "", outputs } = resource;
    const declared = wantedBy(resource);
    if (outputs?.baseUrl !== baseUrl || typeof outputs.account !== "string" || isPendingId(id)) continue;
    const known = found.get(outputs.account) ?? [];
    found.set(outputs.account, known);
    if (declared !== undefined) known.push({ id, ...declared, storedAs: outputs.storedAs });
  }
  return found;
}

interface AccountOptions {
  readonly origin: Origin;
  readonly service: Pick<Service, "list" | "get">;
  readonly stack: Pick<Stack, "state">;
}

/**
 * Answers: is the key that something was recorded with of today's account? Otherwise today's key is of another account, which is another
 * service: what is missing there is not gone. What this process has read counts, and what the state holds.
 */
export class Accounts {
  readonly #read = new Map<string, RecordedEndpoint[]>();
  readonly #ours: Set<string>;

  constructor(private readonly options: AccountOptions) {
    this.#ours = new Set([options.origin.account]);
  }

  /** Notes an endpoint that the state recorded with another key, at this service. */
  note(id: string, { account, baseUrl, url, type, storedAs }: EndpointState): void {
    if (baseUrl !== this.options.origin.baseUrl || this.#ours.has(account) || isPendingId(id)) return;
    const known = this.#read.get(account) ?? [];
    if (!known.some((each) => each.id === id))
      this.#read.set(account, [...known, { id, url, type, storedAs }]);
  }

  /** @param account the fingerprint of a key that something was recorded with, at this service */
  async isOurs(account: string): Promise<boolean> {
    if (this.#ours.has(account)) return true;
    const { origin, service, stack } = this.options;
    const state = await stack.state();
    const ofState = byKey(state?.endpoints ?? [], origin.baseUrl).get(account) ?? [];
    const recorded = [...(this.#read.get(account) ?? []), ...ofState];
    const isOurs = await hasAnyOf(recorded, await service.list(), (id) => service.get(id));
    if (isOurs) this.#ours.add(account);
    return isOurs;
  }

  /** @throws EndpointError `OTHER_ACCOUNT` if something new would be registered in another account than the rest of the stack */
  async assertNewIsHere(): Promise<void> {
    const key = await this.#otherKey();
    if (key !== undefined) throw await this.stop("what this stack has", key);
  }

  /** Returns the key of another account that resources of this provider are recorded with, if there is one. */
  async #otherKey(): Promise<string | undefined> {
    const recorded = (await this.#recorded()).filter(hasEndpoint);
    const keys = recorded.map(({ outputs }) => String(outputs?.account));
    for (const key of new Set(keys)) if (!(await this.isOurs(key))) return key;
    return undefined;
  }

  /** Returns whether an endpoint was left behind by a move: its replacement stands, and the state still is to delete it. */
  async isLeftover(id: string, { account }: Pick<Origin, "account">): Promise<boolean> {
    const state = await this.options.stack.state();
    const isIt = (each: Resource) =>
      each.id === id && each.outputs?.account === account && each.delete === true;
    return state?.endpoints.some(isIt) ?? false;
  }

  /**
   * Returns the error of a verb that would register, forget or leave something because of the wrong key.
   *
   * @param what what was recorded with the other key
   */
  async stop(what: string, account: string): Promise<EndpointError> {
    const { origin, stack } = this.options;
    const isStateKnown = (await stack.state()) !== undefined;
    const urns = (await this.#recorded())
      .filter(({ outputs }) => outputs?.account === account)
      .map(({ urn }) => urn);
    return new EndpointError(
      "OTHER_ACCOUNT",
      `${what} was registered with another API key. ${describeOtherAccount("this stack", foreign(account), origin.account)}. ` +
        "Nothing was registered, forgotten or deleted. Ways on:",
      { ways: [...(isStateKnown ? [] : [WITHOUT_STATE]), ...waysToAccount(urns)] },
    );
  }

  /** The resources of this provider that were recorded at this service with another key, and that no move left behind. */
  async #recorded(): Promise<readonly Resource[]> {
    const { origin, stack } = this.options;
    const state = await stack.state();
    return (state?.endpoints ?? []).filter((resource) => {
      const { outputs } = resource;
      const isHere = outputs?.baseUrl === origin.baseUrl && providerNameOf(resource) === origin.provider;
      const isElsewhere = typeof outputs?.account === "string" && outputs.account !== origin.account;
      return isHere && isElsewhere && !isReplaced(resource);
    });
  }
}

/** @param recorded and today: fingerprints of keys @param stack such as "this stack" */
export function describeOtherAccount(stack: string, recorded: string, today: string): string {
  return `The account of today's key (fingerprint ${today}) has none of the endpoints that ${stack} registered with the key ${recorded}: it is another account`;
}

const WITHOUT_STATE =
  "This command does not know the other endpoints of the stack, which may show that the key was only rotated: run it again with --run-program.";

/** Returns what a user can do. @param urns what to forget; none if nobody knows */
function waysToAccount(urns: readonly string[]): string[] {
  return [
    "If the key was changed by mistake, restore it and run `pulumi up`, also before `pulumi refresh` or `pulumi destroy`: a run with the wrong key may have stored that.",
    'To move the endpoints to another account, restore the key, run `pulumi up`, and only then give them a WebhooksProvider with a new name and the other key: with the wrong key, the old ones would be left. (See "Several accounts" in the package\'s docs/resource.md.)',
    `If it is the same account, and all of them were deleted there, forget them and run \`pulumi up\`: ${
      urns.length === 0 ? `\`${COMMAND} doctor\` prints the command` : forgetting(urns)
    }`,
  ];
}

/** Returns the command line that makes the stack forget resources. */
export function forgetting(urns: readonly string[], flags = ""): string {
  return urns.map((urn) => `pulumi state delete --yes ${quoted(urn)}${flags}`).join(" && ");
}
