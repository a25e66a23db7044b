import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type * as dynamic from "@pulumi/pulumi/dynamic";
import { connectEngine, type Engine } from "../endpoint/engine";
import { explained } from "../endpoint/errors";
import { CodedError } from "../shared/codedError";
import { problemsOfArguments, secretsOf, type ValidationInputs } from "./arguments";
import { validateOnce, validateReceiver } from "./validateReceiver";
import { isRefuting, type ValidationErrorCode } from "./verdict";

/** Why a receiver is not validated, or why a validation cannot be made. Stable. */
type ReceiverValidationErrorCode = ValidationErrorCode | "VALIDATION_NOT_IMPORTABLE" | "RUN_CANCELLED";

/** A receiver that is not validated, or a validation that cannot be made. The message holds no secret, and of the url only its origin. */
class ReceiverValidationError extends CodedError<ReceiverValidationErrorCode> {
  override readonly name = "ReceiverValidationError";
}

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

const PROVIDER_KEY = "__provider";
const DEFAULT_TIMEOUT_SECONDS = 60;

/** What a validation needs of the engine. */
type ValidationEngine = Pick<Engine, "cancelled" | "warn">;

/** The verbs of `ReceiverValidation`. Only `create`, `update` and `read` send anything. */
export function createReceiverValidation(engine: ValidationEngine = connectEngine()) {
  const { cancelled } = engine;
  /** @throws ReceiverValidationError */
  const validated = async (inputs: ValidationInputs): Promise<ValidationState> => {
    const { url, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS, triggers = null } = inputs;
    const target = { url: url as string, secrets: secretsOf(inputs) as string[] };
    const timeoutMs = Number(timeoutSeconds) * 1000;
    const { code, reason } = await unlessCancelled(
      validateReceiver({ ...target, timeoutMs, signal: cancelled }),
    );
    if (code !== null) throw new ReceiverValidationError(code, reason);
    return { ...target, validatedAt: new Date().toISOString(), triggers };
  };
  const unlessCancelled = <T>(validating: Promise<T>): Promise<T> =>
    validating.catch((error: unknown) => {
      if (!cancelled?.aborted) throw error;
      const reason =
        "the receiver was not validated, because the run was cancelled. Run the same command again";
      throw new ReceiverValidationError("RUN_CANCELLED", reason);
    });

  return explained({
    async check(_olds: unknown, news: ValidationInputs): Promise<dynamic.CheckResult> {
      const inputs = Object.fromEntries(Object.entries(news).filter(([, value]) => value !== null));
      const failures = problemsOfArguments(news).map((reason) => ({ property: "", reason }));
      return { inputs, failures };
    },

    async diff(_id: string, olds: ValidationInputs, news: ValidationInputs): Promise<dynamic.DiffResult> {
      return { changes: needsValidation(olds, news) || olds[PROVIDER_KEY] !== news[PROVIDER_KEY] };
    },

    async create(inputs: ValidationInputs): Promise<dynamic.CreateResult> {
      return { id: randomUUID(), outs: await validated(inputs) };
    },

    async update(_id: string, olds: ValidationInputs, news: ValidationInputs): Promise<dynamic.UpdateResult> {
      return { outs: needsValidation(olds, news) ? await validated(news) : { ...olds } };
    },

    /**
     * Validates once more, without retries, also in the preview of a refresh: the engine does not say which it is (engine rule 44).
     * Gone: the receiver was asked, and does not do what was proven.
     */
    async read(id: string, props: ValidationInputs = {}): Promise<dynamic.ReadResult> {
      const { url, secrets } = props as unknown as ValidationState;
      if (url === undefined || secrets === undefined) {
        throw new ReceiverValidationError(
          "VALIDATION_NOT_IMPORTABLE",
          "a receiver validation cannot be imported or looked up: declare it, and `pulumi up` validates the receiver",
        );
      }
      const { code, reason } = await unlessCancelled(validateOnce({ url, secrets, signal: cancelled }));
      if (code === null) return { id, props };
      if (isRefuting(code)) {
        engine.warn(`${reason}. The next \`pulumi up\` validates it again (${code})`);
        return {};
      }
      engine.warn(`${reason}. It counts as validated until it can be asked (${code})`);
      return { id, props };
    },

    async delete(): Promise<void> {},
  });
}

/** The instance that users' state names for ever. */
export const receiverValidation = createReceiverValidation();

function needsValidation(olds: ValidationInputs, news: ValidationInputs): boolean {
  return !isDeepStrictEqual(provenBy(olds), provenBy(news));
}

/** What a validation holds for. Another deadline proves nothing new. */
function provenBy(inputs: ValidationInputs): unknown {
  return [inputs.url, secretsOf(inputs), inputs.triggers ?? null];
}
