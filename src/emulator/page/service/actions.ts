import { parseJson } from "../../../shared/json";
import type { Deliveries } from "../../deliveries/deliveries";
import type { LoggedAttempt } from "../../deliveries/event";
import { runJob } from "../../deliveries/job";
import type { Secrets } from "../../deliveries/secrets";
import { validateRegistration } from "../../endpoint";
import { EmulatorError } from "../../errors";
import type { Fault } from "../../fault";
import type { Faults } from "../../faults";
import type { Log, LoggedRequest } from "../../log";
import type { Registry } from "../../registry";
import type { Timers } from "../../timers";

/** How long an action waits for first answers, so that the next page shows them even without a script. */
const PATIENCE_MS = 300;

export const EVENT_TYPES: readonly string[] = ["job.running", "job.succeeded", "job.failed"];

/** The parts of an emulator that its page shows and changes. */
export interface PageContext {
  readonly registry: Registry;
  readonly deliveries: Deliveries;
  readonly secrets: Secrets;
  readonly faults: Faults;
  readonly requests: Log<LoggedRequest>;
  readonly timers: Timers;
  readonly homeAccount: string;
  readonly basePath: string;
  readonly apiKey: () => string;
  readonly now: () => number;
}

/** Performs an action of the page and returns the section that shows the result. */
type Action = (form: URLSearchParams, context: PageContext) => Promise<string>;

/** The actions by the last part of their path. An action throws an EmulatorError for an invalid form. */
export const ACTIONS: ReadonlyMap<string, Action> = new Map([
  ["jobs", startJob],
  ["events", sendEvent],
  ["replays", replay],
  ["forgeries", tamper],
  ["rotations", showing("secrets", ({ secrets }) => secrets.rotate({}))],
  ["finished-rotations", showing("secrets", ({ secrets }) => secrets.keepNewest())],
  ["faults", plantFault],
  ["removed-faults", removeFaults],
  ["endpoints", register],
  ["deleted-endpoints", deleteEndpoint],
  ["cleared-deliveries", showing("deliveries", ({ deliveries }) => deliveries.log.clear())],
  ["cleared-requests", showing("requests", ({ requests }) => requests.clear())],
]);

/** Makes an action that needs no form. */
function showing(section: string, perform: (context: PageContext) => unknown): Action {
  return async (_, context) => {
    perform(context);
    return section;
  };
}

async function startJob(form: URLSearchParams, context: PageContext): Promise<string> {
  const accounts = [...context.registry.accounts].filter(
    (account) => context.registry.list(account).length > 0,
  );
  if (accounts.length === 0) {
    throw new EmulatorError("EMULATOR_UNKNOWN_ENDPOINT", "Cannot run a job: no endpoint is registered.");
  }
  const outcome = form.get("outcome") === "failed" ? "failed" : "succeeded";
  const jobs = accounts.map((account) => runJob({ ...context, warn: () => undefined }, { outcome, account }));
  await briefly(Promise.all(jobs), context);
  return "deliveries";
}

/** Sends an event to one endpoint, with a body of its own if the form has one. */
async function sendEvent(form: URLSearchParams, context: PageContext): Promise<string> {
  const chosen = form.get("type") ?? "";
  const endpointId = form.get("endpointId") ?? "";
  // Browsers end the lines of a form with CR LF.
  const body = (form.get("body") ?? "").replaceAll("\r\n", "\n");
  const event =
    body === ""
      ? { type: chosen, data: { jobId: "job_from_the_page", status: chosen.replace(/^job\./, "") } }
      : { type: typeIn(body) ?? chosen, body };
  const sent = context.deliveries.dispatch({ ...event, endpointId, tamper: form.has("tamper") });
  await briefly(sent.attempted, context);
  return "deliveries";
}

function typeIn(body: string): string | undefined {
  const { type } = Object(parseJson(body));
  return typeof type === "string" ? type : undefined;
}

async function replay(form: URLSearchParams, context: PageContext): Promise<string> {
  await briefly(context.deliveries.replay(attemptOf(form, context)), context);
  return "deliveries";
}

/** Sends a delivery's event once more under its id, with a body that was changed after signing. */
async function tamper(form: URLSearchParams, context: PageContext): Promise<string> {
  const { id, endpointId, type, body } = attemptOf(form, context);
  const sent = context.deliveries.dispatch({ type, body, id, endpointId, tamper: true });
  await briefly(sent.attempted, context);
  return "deliveries";
}

async function register(form: URLSearchParams, { registry, homeAccount }: PageContext): Promise<string> {
  const ip = (form.get("ip") ?? "").trim();
  const url = (form.get("url") ?? "").trim();
  const validated = validateRegistration({ url, type: form.get("type"), ...(ip === "" ? {} : { ip }) });
  if ("problem" in validated)
    throw new EmulatorError("EMULATOR_OPTIONS", `Cannot register an endpoint: ${validated.problem}`);
  registry.add(homeAccount, validated.input);
  return "endpoints";
}

async function deleteEndpoint(form: URLSearchParams, { registry }: PageContext): Promise<string> {
  const id = form.get("endpointId") ?? "";
  registry.remove(registry.found(id, "delete").account, id);
  return "endpoints";
}

async function plantFault(form: URLSearchParams, { faults }: PageContext): Promise<string> {
  const number = (name: string) =>
    /^\d{1,9}$/.test(form.get(name) ?? "") ? Number(form.get(name)) : Number.NaN;
  const fault = {
    operation: form.get("operation"),
    kind: form.get("kind"),
    times: (form.get("times") ?? "") === "" ? Number.POSITIVE_INFINITY : number("times"),
    ...(form.get("kind") === "status" ? { status: number("status"), effect: form.has("effect") } : {}),
    ...(/^(delay|late-commit)$/.test(form.get("kind") ?? "") ? { delayMs: number("delayMs") } : {}),
  };
  faults.plant(fault as Fault); // which validates it
  return "faults";
}

async function removeFaults(form: URLSearchParams, { faults }: PageContext): Promise<string> {
  const number = form.get("number");
  if (number === null) faults.clear();
  else faults.remove(Number(number));
  return "faults";
}

function attemptOf(form: URLSearchParams, { deliveries }: PageContext): LoggedAttempt {
  const number = form.get("number") ?? "";
  const found = deliveries.log.entries.findLast((attempt) => String(attempt.number) === number);
  if (found !== undefined) return found;
  const message = `Cannot find attempt ${number}: it has no result yet, or is not in the log any more.`;
  throw new EmulatorError("EMULATOR_UNKNOWN_DELIVERY", message);
}

/** Waits until something is done, but not for long: it goes on by itself. */
async function briefly(work: Promise<unknown>, { timers }: PageContext): Promise<void> {
  work.catch(() => undefined);
  await Promise.race([work, timers.sleep(PATIENCE_MS)]);
}
