import { WebhookError, type WebhookErrorCode } from "../client/errors";
import { CodedError } from "../shared/codedError";
import { printedOnce } from "../shared/pulumiInternals";
import { describeUrl } from "../shared/url";
import type { PendingState } from "./state";

/** Why the provider refused or could not finish something. Stable: programs and tests may rely on them. */
export type EndpointErrorCode =
  | Extract<WebhookErrorCode, "NOT_FOUND">
  | "SETTINGS_INVALID"
  | "ENDPOINT_EXISTS"
  | "REGISTRATION_IN_DOUBT"
  | "STILL_PENDING"
  | "STILL_LISTED"
  | "ADOPT_TAKEN"
  | "ADOPT_MISMATCH"
  | "OTHER_BASE_URL"
  | "OTHER_ACCOUNT";

export class EndpointError extends CodedError<EndpointErrorCode> {
  override readonly name = "EndpointError";
}

/**
 * A registration that got no usable response. The plugin passes `id`, `properties` and `reasons` on, and the engine keeps the resource
 * as half-made (engine rule 8). It shows the reasons, not the message.
 */
export class PendingError extends CodedError<"REGISTRATION_PENDING"> {
  override readonly name = "PendingError";
  readonly id: string;
  readonly properties: PendingState;
  readonly reasons: readonly string[];

  /** @param id begins with `pending:` */
  constructor(id: string, state: PendingState, cause: WebhookError) {
    const response = cause.statusCode === undefined ? "no response" : `status ${cause.statusCode}`;
    super(
      "REGISTRATION_PENDING",
      `the registration of ${describeUrl(state.url)} was sent, but it is unknown whether it succeeded (${response}: ${cause.code}). ` +
        `Run \`pulumi up\` again: it takes over the endpoint if it exists, and registers it if not.`,
      { cause },
    );
    this.id = id;
    this.properties = state;
    this.reasons = [this.message];
  }
}

/** Returns the error of a verb that has no usable settings. */
export function settingsUnusable(problems: readonly string[]): EndpointError {
  return new EndpointError(
    "SETTINGS_INVALID",
    `the settings of this run cannot be used. What is wrong: ${problems.join("; ")}. ${OTHER_SETTINGS}`,
  );
}

/** Returns whether the service refused the API key. */
export function isUnauthorized(error: unknown): error is WebhookError {
  return error instanceof WebhookError && (error.statusCode === 401 || error.statusCode === 403);
}

/** Only the provider knows which settings a command without a program uses (engine rule 3). */
const OTHER_SETTINGS =
  "`pulumi refresh`, `pulumi up --refresh` and `pulumi destroy` use the settings of the last plain `pulumi up`. If the key was rotated or the service has moved since, " +
  "set the new one, and run `pulumi up` before them or add --run-program to them.";
const UNFINISHED = "Run the same command again: it deletes what is left.";
/** What other settings may heal. */
const OF_SETTINGS: readonly WebhookError["code"][] = [
  "UNAUTHORIZED",
  "UNREACHABLE",
  "REDIRECTED",
  "MALFORMED_RESPONSE",
];

/**
 * Returns an error of the service as the user is to see it.
 *
 * @param verb of the provider
 * @param hasProgram whether the command runs the program, and so has today's settings
 */
export function explain(
  error: WebhookError,
  { verb, hasProgram }: { readonly verb: string; readonly hasProgram: boolean },
): WebhookError {
  const cancelled = "the run was cancelled, so it did not wait for the service. Run the same command again.";
  if (error.code === "ABORTED") return reworded(error, cancelled);
  // Where the service is not, a web server often responds with 404.
  const isOfSettings = OF_SETTINGS.includes(error.code) || error.statusCode === 404;
  const mayBeOthers = isOfSettings && !hasProgram && (verb === "read" || verb === "delete");
  const isUnfinished = verb === "delete" && error.code === "SERVER_ERROR";
  const advice = [mayBeOthers && OTHER_SETTINGS, isUnfinished && UNFINISHED].filter(Boolean);
  return reworded(error, [error.detail, ...advice].join(" "));
}

/** Returns the same failure in other words. */
export function reworded(error: WebhookError, detail: string): WebhookError {
  const { code, statusCode, responseText } = error;
  return new WebhookError(detail, { code, statusCode, responseText, cause: error });
}

/**
 * Returns the verbs with their failures as the user is to see them. What goes wrong for all resources alike, such as a refused key, is
 * explained with the first of them: the others have only the first sentence and the code.
 */
export function explained<T extends Record<string, (...args: never[]) => Promise<unknown>>>(verbs: T): T {
  const told = new Map<string, CodedError>();
  let hasProgram = false;
  const fail = (verb: string, error: unknown): never => {
    if (!(error instanceof CodedError)) throw error; // a bug keeps its stack
    const shown = error instanceof WebhookError ? explain(error, { verb, hasProgram }) : error;
    const [, what = "", why = ""] = /^(.+?)\. (.+)$/s.exec(shown.detail) ?? [];
    const first = told.get(why) ?? shown;
    told.set(why, first);
    // A hook can make the engine call `create` again, which fails with the same error: only the last time is shown.
    const isRepeated = why !== "" && first !== shown;
    throw printedOnce(isRepeated ? shortened(shown, what) : shown);
  };
  const wrapped = Object.entries(verbs).map(([name, verb]) => [
    name,
    (...args: never[]) => {
      // Only a program's resources are checked.
      hasProgram ||= name === "check";
      return verb(...args).catch((error) => fail(name, error));
    },
  ]);
  return Object.fromEntries(wrapped) as T;
}

function shortened(error: CodedError, what: string): CodedError {
  if (error instanceof WebhookError) return reworded(error, what);
  if (error instanceof PendingError) return Object.assign(error, { reasons: [`${what} (${error.code})`] });
  return error instanceof EndpointError ? new EndpointError(error.code, what, { cause: error }) : error;
}
