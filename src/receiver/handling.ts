import { checkFunctions, checkNumber } from "./checks";
import type { DedupeStore } from "./dedupe/store";
import { checkHandler, handlersByEvent } from "./handlers";
import type { HandlingOptions } from "./options";
import type { Processing } from "./process";
import { schemasByEvent } from "./schema";

const DEFAULT_TIMEOUT_MS = 15_000;
/** The store may take five seconds for the claim, and as long to complete it. */
const STORE_MARGIN_MS = 10_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const DEDUPE = {
  functions: ["claim", "complete", "release"],
  advice: "Pass memoryDedupe(), redisDedupe({ client }), or a store of your own that implements DedupeStore.",
};

/**
 * Checks what handles deliveries, and fills in the defaults.
 * @param owner the function that the options were passed to, such as "createReceiver"
 * @throws RangeError for a number out of its range, TypeError for an invalid handler, schema or store
 */
export function resolveHandling<Events extends object>(
  owner: string,
  options: HandlingOptions<Events> & { readonly handlerTimeoutMs?: number | undefined },
  store: DedupeStore | undefined,
): Processing {
  const handlerTimeoutMs = checkedTimeout(owner, options.handlerTimeoutMs);
  const { leaseMs = handlerTimeoutMs + STORE_MARGIN_MS, onUnhandled } = options;
  checkNumber(`${owner}: leaseMs, which must be longer than handlerTimeoutMs,`, leaseMs, {
    least: handlerTimeoutMs + 1,
  });
  if (store !== undefined) checkFunctions(`${owner}: dedupe`, store, DEDUPE);
  if (onUnhandled !== undefined) checkHandler(`${owner}: onUnhandled`, onUnhandled);
  const schemas = schemasByEvent(owner, options.events);
  const handlers = handlersByEvent(options.handlers, { owner, declared: [...schemas.keys()] });
  return { store, handlers, schemas, onUnhandled, handlerTimeoutMs, leaseMs };
}

/** @throws RangeError */
export function checkedTimeout(owner: string, handlerTimeoutMs = DEFAULT_TIMEOUT_MS): number {
  checkNumber(`${owner}: handlerTimeoutMs`, handlerTimeoutMs, { least: 1, most: LONGEST_TIMER_MS });
  return handlerTimeoutMs;
}
