import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type * as dynamic from "@pulumi/pulumi/dynamic";
import { connectEngine, type Engine } from "../provider/engine";
import { CodedError } from "../shared/codedError";
import { printedOnce } from "../shared/pulumiInternals";
import { problemsOfArguments, secretsOf, type ValidationInputs } from "./arguments";
import { isRefuting, isTemporary, type ValidationErrorCode } from "./problem";
import { probeReceiver, validateReceiver } from "./validateReceiver";

/** The message holds no secret, and of the url only its origin. */
class ReceiverValidationError extends CodedError<ValidationErrorCode | "ABORTED"> {
  override readonly name = "ReceiverValidationError";
}

/** Ends the reason of a first validation that failed only for now. */
const FIRST_UP =
  ". If the receiver takes its secrets from this stack, it cannot run yet: the stack has its outputs only after a `pulumi up` that " +
  "succeeds. Leave the validation out of the first one";

/** What the stack's state holds, besides the provider's code. */
interface ValidationState {
  readonly url: string;
  /** ISO 8601. */
  readonly validatedAt: string;
  /** Encrypted in the state. A refresh has nothing else to validate with. */
  readonly secrets: readonly string[];
  /** Null where there are none: the plugin cannot encode undefined (engine rule 25). */
  readonly triggers: unknown;
}

/** The verbs of `ReceiverValidation`. Only `create`, `update` and `read` send anything. */
export function createReceiverValidationProvider(
  engine: Pick<Engine, "cancelled" | "warn"> = connectEngine(),
) {
  /** A cancelled run ends a validation with the signal's reason, which says nothing. */
  function named(error: unknown): never {
    if (!engine.cancelled?.aborted) throw error;
    const reason = "the run was cancelled before the receiver was validated. Run the same command again";
    throw printedOnce(new ReceiverValidationError("ABORTED", reason));
  }

  /** @param hint ends the reason of a temporary failure @throws ReceiverValidationError */
  async function validated(inputs: ValidationInputs, hint = ""): Promise<ValidationState> {
    const { url, timeoutSeconds, triggers = null } = inputs;
    const target = { url: url as string, secrets: secretsOf(inputs) as string[] };
    const timeoutMs = timeoutSeconds === undefined ? undefined : Number(timeoutSeconds) * 1000;
    const { code, reason } = await validateReceiver({ ...target, timeoutMs, signal: engine.cancelled }).catch(
      named,
    );
    if (code !== null)
      throw printedOnce(new ReceiverValidationError(code, isTemporary(code) ? reason + hint : reason));
    return { ...target, validatedAt: new Date().toISOString(), triggers };
  }

  return {
    async check(_olds: unknown, news: ValidationInputs): Promise<dynamic.CheckResult> {
      const inputs = Object.fromEntries(Object.entries(news).filter(([, value]) => value !== null));
      const failures = problemsOfArguments(inputs).map((reason) => ({ property: "", reason }));
      return { inputs, failures };
    },

    async diff(_id: string, olds: ValidationInputs, news: ValidationInputs): Promise<dynamic.DiffResult> {
      return { changes: needsValidation(olds, news) || olds.__provider !== news.__provider };
    },

    async create(inputs: ValidationInputs): Promise<dynamic.CreateResult> {
      return { id: randomUUID(), outs: await validated(inputs, FIRST_UP) };
    },

    async update(_id: string, olds: ValidationInputs, news: ValidationInputs): Promise<dynamic.UpdateResult> {
      return { outs: needsValidation(olds, news) ? await validated(news) : { ...olds } };
    },

    /**
     * Validates once more, without retries, also in the preview of a refresh: the engine does not say which it is (engine rule 44).
     * Gone: the receiver was asked, and does not do what was proven.
     */
    async read(id: string, props: Partial<ValidationState> = {}): Promise<dynamic.ReadResult> {
      const { url, secrets } = props;
      // An import: there is nothing to validate with.
      if (url === undefined || secrets === undefined) return {};
      const { code, reason } = await probeReceiver({ url, secrets, signal: engine.cancelled }).catch(named);
      if (code === null) return { id, props };
      const isGone = isRefuting(code);
      const next = isGone
        ? "The next `pulumi up` validates it again"
        : "It counts as validated until it can be asked";
      engine.warn(`${reason}. ${next} (${code})`);
      return isGone ? {} : { id, props };
    },

    async delete(): Promise<void> {},
  };
}

/** The instance that users' state names for ever. */
export const receiverValidation = createReceiverValidationProvider();

/** Whether what the validation holds for has changed. Another deadline proves nothing new. */
function needsValidation(olds: ValidationInputs, news: ValidationInputs): boolean {
  const provenBy = (inputs: ValidationInputs) => [inputs.url, secretsOf(inputs), inputs.triggers ?? null];
  return !isDeepStrictEqual(provenBy(olds), provenBy(news));
}
