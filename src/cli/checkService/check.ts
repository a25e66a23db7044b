import { type Endpoint, WebhookEndpointNotFoundError } from "../../client";
import { showAnswer } from "../service";
import { TemporaryEndpoint } from "../temporaryEndpoint";
import { type CheckOptions, wasMade } from "./endpoints";
import { awaitListed, awaitUnlisted, problemIn } from "./listed";
import { described, endpointIn, isBroken, isRedirect, lastTime, type Performed } from "./wire";

/** Plays the clauses at a service that can list. Each endpoint that it registers is in `made`, or has one of the urls. */
export async function check(options: CheckOptions): Promise<void> {
  const { findings, stopped, wire } = options;
  const isOver = () => stopped.aborted || !findings.keeps("register");
  await wrongKey(options);
  if (stopped.aborted) return;
  const sentAt = lastTime(wire.exchanges);
  const id = await register(options);
  if (id === undefined || stopped.aborted) return;
  const listed = await awaitListed(id, options);
  const got = await get(id, options);
  const { patienceMs } = wire.account;
  for (const shown of [listed, got]) if (shown) findings.times(shown, { sentAt, patienceMs });
  if (!isOver()) await registerAgain(id, options);
  if (!isOver()) await registerInvalid(options);
  if (!stopped.aborted) await remove(id, options);
  if (!stopped.aborted && findings.keeps("get")) await tryUnknownId(unknownIdLike(id), options);
}

async function wrongKey({ wire, findings }: CheckOptions): Promise<void> {
  const { exchanges, error } = await wire.perform("GET", () => wire.stranger.list());
  const came = described(exchanges);
  const isRefused = error?.code === "UNAUTHORIZED";
  if (exchanges.some(isRedirect)) findings.add("key", "cannot tell", came);
  else findings.add("key", isRefused ? "meets" : "differs", came);
  if (isRefused && exchanges.some(isBroken)) findings.add("list", "differs", came);
}

interface Registered extends Performed<string> {
  /** What came back, and that the endpoint is not new, if it is not. */
  readonly came: string;
  /** False if the service answered with an endpoint that may be somebody's. */
  readonly isOwn: boolean;
}

async function registered(url: string, options: CheckOptions): Promise<Registered> {
  const { wire, clock, made, others, lost, note } = options;
  const endpoint = new TemporaryEndpoint({ account: wire.account, url, clock, note });
  const performed = await wire.perform("POST", () => endpoint.register());
  const id = performed.value;
  if (performed.error?.code === "REGISTRATION_LOST") lost.add(url);
  const came = described(performed.exchanges);
  if (id === undefined) return { ...performed, came, isOwn: true };
  const isOwn = made.has(id) || (endpoint.wasThere === false && (await wasMade(id, url, options)));
  (isOwn ? made : others).add(id);
  return {
    ...performed,
    isOwn,
    came: isOwn
      ? came
      : `${came}, with ${id}, which may be somebody's: it stays, but its url may have changed`,
  };
}

async function register(options: CheckOptions): Promise<string | undefined> {
  const { findings, urls } = options;
  const performed = await registered(urls.own, options);
  const { came, isOwn } = performed;
  showAnswer(performed.error, options.wire.account, options.note);
  if (!isOwn) {
    findings.add("register", "differs", came);
    return undefined;
  }
  const id = findings.operation("register", performed);
  const answered = endpointIn(performed);
  const problem = answered ? problemIn(answered, urls.own) : "without an endpoint that can be read";
  if (id !== undefined && problem !== undefined) findings.add("register", "differs", `${came}, ${problem}`);
  return id;
}

async function get(id: string, { wire, findings, urls }: CheckOptions): Promise<Endpoint | undefined> {
  const performed = await wire.perform("GET", () => wire.account.client.get(id));
  const got = findings.operation("get", performed);
  const problem = got && problemIn(got, urls.own);
  if (problem !== undefined) findings.add("get", "differs", `${described(performed.exchanges)}, ${problem}`);
  return got;
}

async function registerAgain(first: string, options: CheckOptions): Promise<void> {
  const { findings, urls, wire } = options;
  const { value, exchanges, came, isOwn } = await registered(urls.own, { ...options, note: () => {} });
  if (exchanges.some(isBroken)) findings.add("register", "differs", came);
  else if (exchanges.length === 0 || exchanges.some(isRedirect))
    findings.add("duplicates", "cannot tell", came);
  else if (value === first) findings.add("duplicates", "differs", `${came}, with the id of the first`);
  else if (value === undefined || !isOwn) findings.add("duplicates", "differs", came);
  else {
    await awaitListed(value, options);
    const { value: list } = await wire.perform("GET", () => wire.account.client.list());
    const isReplaced = list?.complete === true && !list.endpoints.some(({ id }) => id === first);
    if (isReplaced) findings.add("duplicates", "differs", `${came}, and the first is gone`);
    else findings.add("duplicates", "meets", came);
  }
}

async function registerInvalid(options: CheckOptions): Promise<void> {
  const { findings, urls } = options;
  const { value, error, exchanges, came } = await registered(urls.invalid, options);
  const [last] = exchanges.slice(-1);
  if (last === undefined) findings.add("refusals", "cannot tell", came);
  else if (last.status === undefined) findings.add("register", "differs", came);
  else if (value !== undefined || error?.code === "MALFORMED_RESPONSE")
    findings.add("refusals", "cannot tell", `${came}: the service accepts something that is not a url`);
  else findings.add("refusals", last.status >= 400 && !exchanges.some(isBroken) ? "meets" : "differs", came);
}

async function remove(id: string, options: CheckOptions): Promise<void> {
  const { wire, findings, made } = options;
  const { client } = wire.account;
  findings.operation("delete", await wire.perform("DELETE", () => client.delete(id)));
  if (!findings.keeps("delete")) return;
  if (findings.keeps("get")) {
    const { value, exchanges } = await wire.perform("GET", () => client.get(id));
    if (value !== undefined) findings.add("delete", "differs", `${described(exchanges)} after the delete`);
    else {
      made.delete(id);
      await awaitUnlisted(id, options);
    }
  }
  const { error, exchanges } = await wire.perform("DELETE", () => client.delete(id));
  const isFine = error === undefined || error instanceof WebhookEndpointNotFoundError;
  findings.add("delete-again", isFine ? "meets" : "differs", described(exchanges));
}

async function tryUnknownId(id: string, { wire, findings }: CheckOptions): Promise<void> {
  const { client } = wire.account;
  const judge = (performed: Performed<unknown>) => {
    const isGone = performed.error instanceof WebhookEndpointNotFoundError;
    findings.add("unknown-id", isGone ? "meets" : "differs", described(performed.exchanges));
    return isGone;
  };
  // Nothing is deleted unless the service has said that it does not exist.
  if (judge(await wire.perform("GET", () => client.get(id))) && findings.keeps("delete"))
    judge(await wire.perform("DELETE", () => client.delete(id)));
}

/** Returns an id of the same kind that the service does not know. */
function unknownIdLike(id: string): string {
  if (/^\d+$/.test(id)) return String(BigInt(id) + 1_000_003n);
  const reversed = [...id.slice(-12)].reverse().join("");
  return reversed === id.slice(-12) ? `${id}0` : id.slice(0, -12) + reversed;
}
