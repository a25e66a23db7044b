import { type CloudStack, lease, Refusal, type Saved, type Update } from "./cloudStack";
import type { JournalEntry } from "./replay";

/** What an update is of. */
const KINDS = ["update", "preview", "refresh", "destroy"];

/** What the CLI sends, all of it where it belongs. */
interface Body extends Partial<Saved> {
  readonly stackName?: string;
  readonly tags?: object;
  readonly journalVersion?: number;
  readonly untypedDeployment?: Saved;
  readonly isInvalid?: boolean;
  readonly entries?: readonly JournalEntry[];
  readonly status?: string;
  readonly plaintext?: string;
  readonly plaintexts?: readonly string[];
  readonly ciphertext?: string;
  readonly ciphertexts?: readonly string[];
}

export interface Request {
  readonly method: string;
  /** Without `/api`. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Body;
  readonly authorization: string;
}

/** Answers what a user asks of a stack. */
export function answerAboutStack(
  stack: CloudStack,
  [noun = "", id, action]: readonly string[],
  { method, body }: Request,
): unknown {
  if (KINDS.includes(noun)) {
    if (id === undefined) return { updateID: stack.plan(noun).id, requiredPolicies: [], messages: [] };
    const update = updateOf(stack, id);
    if (method === "GET" && action === "events") return { events: [] };
    if (method === "GET") return { status: update.result, events: [] };
    if (action === undefined) return stack.start(update, (body.journalVersion ?? 0) > 0);
    if (action !== "cancel") throw new Error("an unknown request of an update");
    if (update.isOver) throw new Refusal(409, "Conflict: The Update has already completed");
    stack.end(update, "failed", "cancelled");
    return {};
  }
  switch (`${method} ${noun}`) {
    case "GET ":
      return stack.details;
    case "GET updates":
      // The Automation API asks, and does without.
      return { updates: [] };
    case "GET export":
      return stack.exported;
    case "POST import":
      return { updateId: stack.import(savedIn(body)).id };
    case "POST encrypt":
      return { ciphertext: stack.encrypt(body.plaintext ?? "") };
    case "POST decrypt":
      // The other one is a note for the service's own log.
      return id === undefined ? { plaintext: stack.decrypt(body.ciphertext ?? "") } : {};
    case "POST batch-encrypt":
      return { ciphertexts: body.plaintexts?.map((each) => stack.encrypt(each)) };
    case "POST batch-decrypt":
      return {
        plaintexts: Object.fromEntries(body.ciphertexts?.map((each) => [each, stack.decrypt(each)]) ?? []),
      };
    case "PATCH tags":
      stack.tags = body;
      return {};
    default:
      throw new Error("an unknown request of a stack");
  }
}

/** Answers what an update under way asks for, with the token of its lease. */
export function answerUpdate(
  stack: CloudStack,
  [, id = "", ...action]: readonly string[],
  { authorization, body }: Request,
): unknown {
  const update = updateOf(stack, id);
  if (authorization !== `update-token ${update.token}`)
    throw new Refusal(403, "Forbidden: invalid update token");
  if (update.isOver || (!update.isPreview && stack.active !== update))
    throw new Refusal(409, "Conflict: The Update has already completed");
  switch (action.join("/")) {
    case "checkpoint":
      if (!body.isInvalid) stack.saved = savedIn(body);
      return {};
    case "checkpointverbatim":
      stack.saved = body.untypedDeployment ?? stack.saved;
      return {};
    case "journalentries":
      update.note(body.entries ?? []);
      return {};
    case "renew_lease":
      return { token: update.token, ...lease() };
    case "complete":
      stack.end(update, body.status === "succeeded" ? "succeeded" : "failed");
      return {};
    case "events/batch":
      return {};
    default:
      // A delta, for one: the states of tests are sent whole.
      throw new Error("an unknown request of an update under way");
  }
}

function savedIn({ version = 3, deployment = null }: Body): Saved {
  return { version, deployment };
}

function updateOf(stack: CloudStack, id: string): Update {
  const update = stack.updates.find((each) => each.id === id);
  if (update === undefined) throw new Refusal(404, "Not Found: Update not found");
  return update;
}
