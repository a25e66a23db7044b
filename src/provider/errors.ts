import { WebhookError } from "../client/errors";
import { CodedError } from "../shared/codedError";
import { describeUrl } from "../shared/url";
import { HOW_TO_SEE_ANSWER, hasAnswer } from "./shownAnswer";
import type { PendingState } from "./state";

/** Why the provider refused or could not finish something. Stable: programs and tests may rely on them. */
export type EndpointErrorCode =
  | "SETTINGS_INVALID"
  | "ENDPOINT_NOT_FOUND"
  | "ENDPOINT_EXISTS"
  | "REGISTRATION_IN_DOUBT"
  | "STILL_PENDING"
  | "ADOPT_TAKEN"
  | "ADOPT_NOT_FOUND"
  | "ADOPT_MISMATCH"
  | "OTHER_BASE_URL";

export class EndpointError extends CodedError<EndpointErrorCode> {
  override readonly name = "EndpointError";
}

/**
 * A registration that got no usable answer. The plugin passes `id`, `properties` and `reasons` on, and the engine keeps the resource
 * as half-made (engine rule 8). It shows the reasons, not the message.
 */
export class PendingError extends CodedError<"REGISTRATION_PENDING"> {
  override readonly name = "PendingError";
  readonly id: string;
  readonly properties: PendingState;
  readonly reasons: readonly string[];

  /** @param id begins with `pending:` */
  constructor(id: string, state: PendingState, cause: WebhookError) {
    const answer = cause.statusCode === undefined ? "no answer" : `status ${cause.statusCode}`;
    super(
      "REGISTRATION_PENDING",
      `the registration of ${describeUrl(state.url)} was sent, but it is unknown whether it succeeded (${answer}: ${cause.code}). ` +
        "Run `pulumi up` again: it takes over the endpoint if it exists, and registers it if not. `pulumi refresh` and " +
        `\`pulumi destroy\` also settle it.${hasAnswer(cause) ? ` ${HOW_TO_SEE_ANSWER}` : ""}`,
      { cause },
    );
    this.id = id;
    this.properties = state;
    this.reasons = [this.message];
  }
}

/** Returns whether the service refused the API key. */
export function isUnauthorized(error: unknown): error is WebhookError {
  return error instanceof WebhookError && (error.statusCode === 401 || error.statusCode === 403);
}

/** Returns an error of the service as the user is to see it. */
export function explain(error: WebhookError): WebhookError {
  const cancelled = "the run was cancelled, so it did not wait for the service. Run the same command again.";
  if (error.code === "ABORTED") return reworded(error, cancelled);
  if (!isUnauthorized(error)) return withHint(error);
  // Only the provider knows which key a command without a program uses (engine rule 3).
  const detail =
    `${error.detail} \`pulumi refresh\` and \`pulumi destroy\` use the key of the last \`pulumi up\`. If the key was rotated, run ` +
    "`pulumi up` before them, or add --run-program to them.";
  return withHint(reworded(error, detail));
}

/** Returns an error that says how to see the service's answer, if there is one. */
export function withHint(error: WebhookError): WebhookError {
  return hasAnswer(error) ? reworded(error, `${error.detail} ${HOW_TO_SEE_ANSWER}`) : error;
}

function reworded(error: WebhookError, detail: string): WebhookError {
  const { code, statusCode, responseText } = error;
  return new WebhookError(detail, { code, statusCode, responseText, cause: error });
}

/** Returns the verbs with the service's refusals explained, and without the stack that the plugin would print (engine rule 15). */
export function explained<T extends Record<string, (...args: never[]) => Promise<unknown>>>(verbs: T): T {
  const fail = (error: unknown): never => {
    const shown = error instanceof WebhookError ? explain(error) : error;
    if (shown instanceof CodedError) shown.stack = ""; // a bug keeps its own
    throw shown;
  };
  const wrapped = Object.entries(verbs).map(([name, verb]) => [
    name,
    (...args: never[]) => verb(...args).catch(fail),
  ]);
  return Object.fromEntries(wrapped) as T;
}
