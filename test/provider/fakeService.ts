import type { WebhooksClientOptions } from "../../src/client";
import type { Clock } from "../../src/client/clock";

export type Dispatcher = NonNullable<WebhooksClientOptions["dispatcher"]>;
type Handler = Parameters<Dispatcher["dispatch"]>[1];
type Sent = Parameters<Dispatcher["dispatch"]>[0];

export type Operation = "register" | "list" | "get" | "delete";

export interface Registered {
  readonly id: string;
  url: string;
  type: "production" | "development";
  readonly ip: string | undefined;
  readonly account: string;
  /** On the service's clock, in milliseconds since 1970. */
  readonly made: number;
  /** Whose process registered it; undefined for what anybody else registered. */
  by: object | undefined;
}

/**
 * How a request ends. `late-commit` takes effect late and gets no response, `late-response` takes effect at once. `stale` is answered as
 * of some time ago. `blank` begins with a list: a replica that has just come up shows nothing for some time. A `status` without effect
 * may be that of a proxy: 404, as while its service is replaced.
 */
export interface Fault {
  readonly kind:
    | ("unreachable" | "lost-before" | "lost-after" | "hang-before" | "hang-after")
    | ("late-response" | "late-commit" | "garbled" | "truncated" | "empty" | "status")
    | ("stale" | "blank");
  readonly operation: Operation | "any";
  /** Default 1. */
  readonly times?: number;
  /** How many to let through first. Default 0. */
  readonly after?: number;
  /** Of the two late ones, of `stale` and of `blank`, in milliseconds. */
  readonly delayMs?: number;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of `status`. Default: an error that holds nothing. */
  readonly body?: string;
  /** Whether a `status` takes effect all the same. */
  readonly effect?: boolean;
}

/** How the service differs from one that is exact and complete. */
export interface Habits {
  /** How many endpoints a list shows, and says that there is more. */
  readonly listed?: number;
  /** How long a list lacks what is new, in milliseconds. */
  readonly lagMs?: number;
  /** Whether a replica answers, so that gets lag as well, and both still have what was deleted meanwhile. */
  readonly isReplica?: boolean;
  /** How it tells when an endpoint was made; undefined: not at all. Default: exactly. */
  readonly tells?: (exactly: string) => string | undefined;
  /** Whether responses lack the Date header. */
  readonly tellsNoDate?: boolean;
  /** How much its clock is ahead, in milliseconds. */
  readonly aheadMs?: number;
  /** How much the clocks of its replicas are ahead, in milliseconds. Each request meets the next one, so time jumps back and forth. */
  readonly replicasAheadMs?: readonly number[];
  /** Its own spelling of a url. */
  readonly spell?: (url: string) => string;
  /** Whether it keeps one endpoint for each url. */
  readonly keepsOne?: boolean;
  /** Whether ids count for each account. */
  readonly countsIds?: boolean;
  /** Whether ids are numbers of rows, and the highest is used again once it is free, as by SQLite. */
  readonly reusesIds?: boolean;
}

export interface Logged {
  readonly operation: Operation;
  readonly path: string;
  readonly account: string | undefined;
  readonly body: string | undefined;
  readonly fault: string;
}

/** How long a request, or a response, is on its way, in milliseconds. */
const LATENCY_MS = 20;
/** No message holds such a number by chance. */
const FIRST_ROW = 7001;
/** How long after a replica came up no other one comes up, in milliseconds. */
const BETWEEN_BLANKS_MS = 30_000;
/** The status of each operation that succeeds. */
const SUCCESS = { register: 201, list: 200, get: 200, delete: 204 };

/** A webhook service that loses, lags and splits, written from the contract alone. It is reached without a socket, in virtual time. */
export class FakeService {
  readonly requests: Logged[] = [];
  endpoints: Registered[] = [];
  /** The account of each key. */
  readonly accounts = new Map<string, string>();
  /** Told of each request that has arrived, and of each that was carried out. */
  watch: (request: Logged, moment: "arrived" | "done") => void = () => {};
  /** What exists and was denied: by a response to a request for it alone, and by a list that lacks it. */
  readonly denied = { alone: new Set<Registered>(), byList: new Set<Registered>() };
  #faults: { readonly fault: Fault; skip: number; left: number }[] = [];
  #made = 0;
  /** How many requests have arrived: each meets the next replica. */
  #arrived = 0;
  #blankUntil = Number.NEGATIVE_INFINITY;
  /** When something was registered and when it was deleted, for whoever lags behind. */
  readonly #since = new Map<Registered, number>();
  readonly #ended = new Map<Registered, number>();

  constructor(
    readonly url: string,
    private readonly time: Pick<Clock, "date" | "after">,
    public habits: Habits = {},
  ) {}

  /** Returns what the requests that change something were: their operations. */
  get changes(): Operation[] {
    return this.requests.map(({ operation }) => operation).filter((each) => /register|delete/.test(each));
  }

  fault(fault: Fault): void {
    this.#faults.push({ fault, skip: fault.after ?? 0, left: fault.times ?? 1 });
  }

  clearFaults(): void {
    this.#faults = [];
  }

  /** Adds what somebody else registers. */
  add(args: Partial<Registered> & Pick<Registered, "url">, account = "default", by?: object): Registered {
    const endpoint = {
      id: this.#nextId(account),
      type: "production" as const,
      ip: undefined,
      made: this.#now(),
      ...args,
      url: this.spelled(args.url),
      account,
      by,
    };
    this.endpoints.push(endpoint);
    this.#since.set(endpoint, this.time.date());
    return endpoint;
  }

  /** Returns a url as it is stored. */
  spelled(url: string): string {
    return this.habits.spell?.(url) ?? url;
  }

  /** @param which an endpoint, or the id of some */
  remove(which: string | Registered): void {
    const gone = this.endpoints.filter((each) => each === which || each.id === which);
    this.endpoints = this.endpoints.filter((each) => !gone.includes(each));
    for (const each of gone) this.#ended.set(each, this.time.date());
  }

  #nextId(account: string): string {
    const { countsIds, reusesIds } = this.habits;
    this.#made += 1;
    if (reusesIds) return `${Math.max(FIRST_ROW, ...this.endpoints.map(({ id }) => Number(id) + 1))}`;
    const own = this.endpoints.filter((each) => each.account === account);
    return `wh_${countsIds ? own.length + 1 : this.#made}`;
  }

  /** Carries a request of a process: whoever is dead gets no response. */
  dispatch(process: { readonly isDead: boolean }, sent: Sent, handler: Handler): void {
    const { method, path = "", headers } = sent;
    const id = decodeURIComponent(/^\/webhooks\/(.+)$/.exec(path)?.[1] ?? "");
    const operation: Operation =
      method === "POST" ? "register" : method === "DELETE" ? "delete" : id === "" ? "list" : "get";
    const account = this.accounts.get(String(Object(headers)["X-Api-Key"]));
    const body = typeof sent.body === "string" ? sent.body : undefined;
    const fault = this.#take(operation);
    const { kind, delayMs = 0, status = 500 } = fault ?? {};
    if (fault && fault.effect !== true) this.#noteDenial(operation, { id, account, fault });
    const request = { operation, path, account, body, fault: kind === "status" ? `${status}` : (kind ?? "") };
    this.requests.push(request);
    let isOver = false;
    const abort = () => {
      isOver = true;
    };
    const controller = { abort } as unknown as Parameters<NonNullable<Handler["onRequestStart"]>>[0];
    const broken = () => {
      if (!isOver && !process.isDead) handler.onResponseError?.(controller, new Error("broken"));
    };
    const respond = (status: number, text: string, more: Readonly<Record<string, string>> = {}) => {
      if (isOver || process.isDead) return;
      const date = this.habits.tellsNoDate ? {} : { date: new Date(this.#now()).toUTCString() };
      const head = { "content-type": "application/json", ...date, ...more };
      handler.onResponseStart?.(controller, status, head, "");
      const isCut = kind === "truncated";
      handler.onResponseData?.(controller, Buffer.from(isCut ? text.slice(0, text.length / 2) : text));
      if (isCut) broken();
      else handler.onResponseEnd?.(controller, {});
    };
    const staleMs = kind === "stale" ? delayMs : 0;
    const carryOut = (): { status: number; text: string } => {
      if (account === undefined) return { status: 401, text: "{}" };
      const result = this.#carryOut(operation, { id, account, body, by: process, staleMs });
      this.watch(request, "done");
      if (result === undefined) return { status: 404, text: "{}" };
      return { status: SUCCESS[operation], text: JSON.stringify(result) };
    };
    if (kind === "unreachable") return void this.time.after(LATENCY_MS, broken);
    handler.onRequestStart?.(controller, {});
    this.time.after(LATENCY_MS, () => {
      this.#arrived += 1;
      this.watch(request, "arrived");
      if (kind === "late-commit") return void this.time.after(delayMs, carryOut);
      const isCarriedOut = kind === "status" ? fault?.effect === true : !kind?.endsWith("-before");
      const result = isCarriedOut ? carryOut() : { status, text: "" };
      if (kind?.startsWith("hang-")) return;
      const end = () => {
        if (kind?.startsWith("lost-")) broken();
        else if (kind === "status") respond(status, fault?.body ?? "{}", fault?.headers);
        else if (kind === "garbled") respond(200, "<html></html>");
        else respond(result.status, kind === "empty" ? "" : result.text);
      };
      this.time.after(LATENCY_MS + (kind === "late-response" ? delayMs : 0), end);
    });
  }

  /** Returns the body of the response; undefined if there is no such endpoint. */
  #carryOut(
    operation: Operation,
    {
      id,
      account,
      body,
      by,
      staleMs,
    }: Readonly<Record<"id" | "account", string>> & {
      readonly body: string | undefined;
      readonly by: object;
      readonly staleMs: number;
    },
  ): unknown {
    const { keepsOne, listed } = this.habits;
    const own = this.endpoints.filter((each) => each.account === account);
    if (operation === "register") {
      const { url, type, ip } = JSON.parse(body ?? "{}");
      const existing = keepsOne ? own.find((each) => each.url === url) : undefined;
      const made = existing ?? this.add({ url, type, ip }, account, by);
      return { id: made.id, url: made.url, type: made.type };
    }
    if (operation === "delete") {
      const found = own.find((each) => each.id === id);
      if (found) this.remove(found);
      return found && this.#shown(found);
    }
    const seen = this.#seen(operation, staleMs).filter((each) => each.account === account);
    if (operation === "get") {
      const found = seen.find((each) => each.id === id);
      return found && this.#shown(found);
    }
    for (const each of own) if (!seen.includes(each)) this.denied.byList.add(each);
    const shown = seen.map((each) => this.#shown(each));
    if (listed === undefined || shown.length <= listed) return shown;
    return { data: shown.slice(0, listed), next: "more" };
  }

  /** Returns what a list or a get sees. */
  #seen(operation: "list" | "get", staleMs: number): Registered[] {
    const now = this.time.date();
    if (operation === "list" && now < this.#blankUntil) return [];
    const { lagMs = 0, isReplica = false } = this.habits;
    const lacksMs = Math.max(staleMs, operation === "list" || isReplica ? lagMs : 0);
    const keepsMs = Math.max(staleMs, isReplica ? lagMs : 0);
    const ended = [...this.#ended].flatMap(([each, at]) => (at > now - keepsMs ? [each] : []));
    return [...this.endpoints, ...ended].filter(
      (each) => (this.#since.get(each) ?? Number.NEGATIVE_INFINITY) <= now - lacksMs,
    );
  }

  /** Notes what exists and a fault denies. */
  #noteDenial(operation: Operation, about: { id: string; account: string | undefined; fault: Fault }): void {
    const { id, account, fault } = about;
    const now = this.time.date();
    if (fault.kind === "blank" && now > this.#blankUntil + BETWEEN_BLANKS_MS)
      this.#blankUntil = now + (fault.delayMs ?? 0);
    if (!(fault.status === 404 || fault.status === 410) || operation === "register") return;
    for (const each of this.endpoints)
      if (each.account === account && each.id === id) this.denied.alone.add(each);
  }

  #shown({ id, url, type, made }: Registered): object {
    const { tells = (exactly: string) => exactly } = this.habits;
    const createdAt = tells(new Date(made).toISOString());
    return { id, url, type, createdAt, updatedAt: createdAt };
  }

  #now(): number {
    const { aheadMs = 0, replicasAheadMs = [] } = this.habits;
    return this.time.date() + aheadMs + (replicasAheadMs[this.#arrived % replicasAheadMs.length] ?? 0);
  }

  /** Returns the fault that a request meets. */
  #take(operation: Operation): Fault | undefined {
    const met = this.#faults.find((each) => {
      if (each.left <= 0 || !["any", operation].includes(each.fault.operation)) return false;
      return each.skip-- <= 0;
    });
    if (met) met.left -= 1;
    return met?.fault;
  }
}
