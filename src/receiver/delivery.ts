import type { ReadEvent } from "./event";
import type { Delivery } from "./types";

const INSPECT = Symbol.for("nodejs.util.inspect.custom");

// Cloudflare Workers had none before September 2025.
const { bun, deno }: Partial<NodeJS.ProcessVersions> = process.versions ?? {};
/** Bun and Deno read a signal's state without its properties, so there, whoever has the signal counts as watching it. */
const SHOWS_ITS_USE = bun === undefined && deno === undefined;

interface Source extends Omit<ReadEvent, "message"> {
  readonly id: string;
  readonly timestamp: number;
  readonly rawBody: Uint8Array;
}

/** What becomes of a delivery's signal. */
interface SignalState {
  controller?: AbortController;
  expired?: Error;
  isWatched: boolean;
}

/** Not a private field: in a proxy, and in what inherits from the delivery, the getter has another `this`. */
const STATE = Symbol("state");

/** A delivery, and the means to fire its signal. */
export class VerifiedDelivery implements Delivery {
  readonly id: string;
  readonly timestamp: number;
  readonly event: string | undefined;
  readonly jobId: string | undefined;
  /** Replaced by what the schema of its event makes of it, before a handler is called. */
  data: unknown;
  readonly rawBody: Uint8Array;
  declare readonly signal: AbortSignal;
  declare private readonly [STATE]: SignalState;

  // An own property, so that a copy by spreading has it, as its type says. The controller is made when first asked for: most
  // handlers never do, and it costs more than the rest of the delivery.
  static readonly #SIGNAL: PropertyDescriptor & ThisType<VerifiedDelivery> = {
    enumerable: true,
    get() {
      const state = this[STATE];
      state.controller ??= watchedController(() => {
        state.isWatched = true;
      });
      if (state.expired !== undefined) state.controller.abort(state.expired);
      return state.controller.signal;
    },
  };

  constructor({ id, timestamp, event, jobId, data, rawBody }: Source) {
    this.id = id;
    this.timestamp = timestamp;
    this.event = event;
    this.jobId = jobId;
    this.data = data;
    this.rawBody = rawBody;
    const state: SignalState = { isWatched: false };
    Object.defineProperty(this, STATE, { value: state });
    Object.defineProperty(this, "signal", VerifiedDelivery.#SIGNAL);
  }

  /** Whether the handler used the signal, and so may have stopped when it fired. A copy of the delivery has the same signal. */
  get isWatched(): boolean {
    return this[STATE].isWatched;
  }

  /** @throws why the delivery was given up, if it was */
  throwIfExpired(): void {
    if (this[STATE].expired !== undefined) throw this[STATE].expired;
  }

  expire(reason: Error): void {
    this[STATE].expired = reason;
    this[STATE].controller?.abort(reason);
  }
}

/**
 * Creates the controller of an AbortSignal that reports its first use: a listener, a look at `aborted` or `reason`, or being passed to
 * something that has to do one of these, such as `fetch` or `AbortSignal.any`. Copying, printing and serializing it are no uses.
 */
function watchedController(onUse: () => void): AbortController {
  places ??= SHOWS_ITS_USE ? placesOfUse() : [];
  return controllerOf(places, onUse);
}

type Place = keyof AbortSignal | symbol;
/** The properties of a signal in which its use shows; empty if it doesn't. */
let places: readonly Place[] | undefined;

function placesOfUse(): readonly Place[] {
  const properties: readonly Place[] = ["aborted", "reason", "onabort"];
  // Where Node.js keeps what `aborted` says. In version 26, `AbortSignal.any` looks there.
  const own = Object.getOwnPropertySymbols(new AbortController().signal);
  const state = own.filter(({ description }) => description === "kAborted");
  return [properties, [...properties, ...state]].find(showUse) ?? [];
}

function showUse(candidate: readonly Place[]): boolean {
  if (typeof AbortSignal.any !== "function") return true;
  let isSeen = false;
  AbortSignal.any([
    controllerOf(candidate, () => {
      isSeen = true;
    }).signal,
  ]);
  return isSeen;
}

/** @param watched empty if no property shows the use: whoever has the signal counts as watching it */
function controllerOf(watched: readonly Place[], onUse: () => void): AbortController {
  const controller = new AbortController();
  const { signal } = controller;
  let isOwn = false;
  const use = () => {
    if (!isOwn) onUse();
  };
  const quietly = <T>(work: () => T): T => {
    isOwn = true;
    try {
      return work();
    } finally {
      isOwn = false;
    }
  };
  if (watched.length === 0) use();
  for (const place of watched) defineAccessor(signal, place, use);
  for (const name of ["addEventListener", "throwIfAborted"] as const) defineMethod(signal, name, use);
  const inspect = () =>
    `AbortSignal { aborted: ${quietly(() => Reflect.get(AbortSignal.prototype, "aborted", signal))} }`;
  Object.defineProperty(signal, INSPECT, { value: inspect });
  const abort = (reason?: unknown) => quietly(() => AbortController.prototype.abort.call(controller, reason));
  Object.defineProperty(controller, "abort", { value: abort });
  return controller;
}

/** A look at a property of the prototype, or at the signal's own, counts as use. */
function defineAccessor(signal: AbortSignal, place: Place, onUse: () => void): void {
  const own = Object.getOwnPropertyDescriptor(signal, place);
  Object.defineProperty(signal, place, {
    get() {
      onUse();
      return own ? own.value : Reflect.get(AbortSignal.prototype, place, signal);
    },
    set(value: unknown) {
      onUse();
      if (own) own.value = value;
      else Reflect.set(AbortSignal.prototype, place, value, signal);
    },
  });
}

function defineMethod(signal: AbortSignal, name: "addEventListener" | "throwIfAborted", onUse: () => void) {
  const method = AbortSignal.prototype[name];
  const value = (...args: unknown[]) => {
    onUse();
    return Reflect.apply(method, signal, args);
  };
  Object.defineProperty(signal, name, { value });
}
