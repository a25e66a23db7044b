import { type Endpoint, type EndpointList, type Registration, WebhookRegistrationError } from "../client";
import { sameUrl } from "../shared/url";
import { type Decision, decide } from "./decide";
import type { Sent } from "./entry";
import type { Known } from "./evidence";
import { alike, sameId } from "./identity";
import { LAG_MS } from "./lag";
import { pendingOfSent } from "./pendingResource";
import { type Lookup, settle, type Waiting } from "./settle";
import { isSameTime, placeIn } from "./time";

/** How much older than its registration an endpoint must be to have been there before, in milliseconds: clocks differ. */
const OLDER_MS = 60_000;
const MAX_SENT = 4;

export interface SendingService extends Lookup {
  /** @param onSend called right before each attempt */
  register(registration: Registration, onSend: () => void): Promise<Endpoint>;
  /** Returns the service's time, in milliseconds since 1970; null if unknown. */
  time(): number | null;
}

export interface RegisterOptions extends Waiting {
  readonly service: SendingService;
  /** What was there before. */
  readonly baseline: EndpointList;
  /** True to ask about what it was answered with even if a complete list lacks that: lists lag. It costs a request. */
  readonly isCareful?: boolean | undefined;
  /** Endpoints of this url and type that are known to be there, and that the baseline may lack. */
  readonly alsoThere?: readonly string[];
  readonly timeoutMs: number;
  readonly patienceMs: number;
  readonly onSend?: (sent: Sent) => void;
  /** Told when an attempt leaves open whether it worked. */
  readonly onLost?: () => void;
  /** Returns what else is pending, and who has an endpoint. */
  readonly evidence?: () => Promise<Known>;
}

export type Registered =
  | {
      readonly kind: "made";
      readonly endpoint: Endpoint;
      /**
       * Whether it was there before: some services keep one endpoint for each url, and answer with that. Undefined if the service does not
       * tell when it was made, and a partial list lacks it or a list has its id with another url.
       */
      readonly wasThere: boolean | undefined;
    }
  | { readonly kind: "pending"; readonly sent: Sent; readonly error: WebhookRegistrationError };

/**
 * Registers an endpoint once, at a service that accepts duplicates and knows no idempotency key. If the answer is lost, looks for
 * the endpoint: for 5 s after an answer that cannot be used, and otherwise until `timeoutMs` after the request. Never sends it again. Call it under the lock of url and type.
 *
 * @throws WebhookRegistrationError when it was certainly not made
 */
export async function registerOnce(
  registration: Registration,
  options: RegisterOptions,
): Promise<Registered> {
  const { service, baseline, alsoThere = [], clock, timeoutMs, patienceMs, cancelled, onSend } = options;
  const before = [...new Set([...idsLike(baseline, registration), ...alsoThere])];
  let sentAt = clock.now();
  let sent: Sent = { at: clock.date(), serviceTime: service.time(), before, complete: baseline.complete };
  const note = () => {
    sentAt = clock.now();
    sent = { ...sent, at: clock.date(), serviceTime: service.time() };
    onSend?.(sent);
  };
  try {
    const endpoint = await service.register(registration, note);
    return { kind: "made", endpoint, wasThere: await wasThere(endpoint) };
  } catch (error) {
    if (!(error instanceof WebhookRegistrationError) || error.outcome === "not-made") throw error;
    options.onLost?.();
    const leftMs = error.statusCode === undefined ? sentAt + timeoutMs - clock.now() : 0;
    const forMs = Math.max(LAG_MS, leftMs);
    // Whatever goes wrong here, the registration must not be lost.
    const outcome = await settle(() => service.list(), decideOwn, { clock, cancelled, forMs }).catch(
      () => undefined,
    );
    const isOld = outcome?.kind === "found" ? await wasThere(outcome.endpoint) : undefined;
    // Nothing tells whether this registration made it.
    if (outcome?.kind !== "found" || isOld === undefined) return { kind: "pending", sent, error };
    return { kind: "made", endpoint: outcome.endpoint, wasThere: isOld };
  }

  /** Returns whether what a registration was answered with was there before it; undefined if nothing tells. Asks once, in vain or not. */
  async function wasThere(answered: Endpoint): Promise<boolean | undefined> {
    const { id } = answered;
    const { serviceTime } = sent;
    const odd = baseline.unrecognized.map((each) => ({ ...each, createdAt: null }));
    const listed = [...baseline.endpoints, ...odd].find((each) => sameId(each.id, id));
    const isAsked = !answered.createdAt && (options.isCareful || listed !== undefined || !baseline.complete);
    const shown = isAsked ? await service.find(id).catch(() => undefined) : undefined;
    const createdAt = answered.createdAt ?? shown?.createdAt;
    if (listed !== undefined) {
      // Some services use the id of a deleted endpoint again. Others keep one endpoint for each account, and give it another url.
      const isAlike = listed.url === null || sameUrl(listed.url, registration.url);
      return isSameTime(listed.createdAt, createdAt) ?? (isAlike || undefined);
    }
    if (alsoThere.some((each) => sameId(each, id))) return true;
    const window = { from: (serviceTime ?? 0) - OLDER_MS, until: Number.MAX_VALUE };
    const place = serviceTime === null ? "unknown" : placeIn(window, createdAt);
    return place === "unknown" && !baseline.complete ? undefined : place === "outside";
  }

  async function decideOwn(list: EndpointList): Promise<Decision> {
    const known = await options.evidence?.();
    return decide({
      identity: registration,
      pending: [
        { ...pendingOfSent(sent, patienceMs), own: true },
        ...(known?.pending ?? []).map((each) => ({ ...each, explainsOnly: true })),
      ],
      list,
      holderOf: known?.holderOf ?? (() => "nobody"),
      patienceMs,
    });
  }
}

/** Returns the ids of a url and type, also those whose type the service spells in an unknown way. */
function idsLike(list: EndpointList, registration: Registration): string[] {
  return [
    ...alike(list, registration).map(({ id }) => id),
    ...list.unrecognized.flatMap(({ id, url }) =>
      url === null || sameUrl(url, registration.url) ? [id] : [],
    ),
  ];
}
