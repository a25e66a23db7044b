import { runJob } from "../deliveries/job";
import type { EmulatedEndpointType } from "../endpoint";
import { EmulatorError } from "../errors";
import type { Fault } from "../fault";
import type { PageContext } from "./context";

/** How long an action waits for first answers, so that the next page shows them even without a script. */
const PATIENCE_MS = 300;

export const ENDPOINT_TYPES: readonly EmulatedEndpointType[] = ["production", "development"];
export const EVENT_TYPES: readonly string[] = ["job.running", "job.succeeded", "job.failed"];

/** Performs an action of the page and returns the section that shows the result. */
type Action = (form: URLSearchParams, context: PageContext) => Promise<string>;

/** The actions by the last part of their path. An action throws an EmulatorError for an invalid form. */
export const ACTIONS: ReadonlyMap<string, Action> = new Map<string, Action>([
  ["jobs", startJob],
  ["events", sendEvent],
  ["replays", replay],
  ["forgeries", tamper],
  [
    "rotations",
    async (_, { secrets }) => {
      secrets.rotate({});
      return "secrets";
    },
  ],
  [
    "finished-rotations",
    async (_, { secrets }) => {
      secrets.keepNewest();
      return "secrets";
    },
  ],
  ["faults", plantFault],
  ["removed-faults", removeFaults],
]);

async function startJob(form: URLSearchParams, context: PageContext): Promise<string> {
  if (context.registry.list(context.homeAccount).length === 0) {
    throw new EmulatorError("EMULATOR_UNKNOWN_ENDPOINT", "Cannot run a job: no endpoint is registered.");
  }
  const outcome = form.get("outcome") === "failed" ? "failed" : "succeeded";
  await briefly(runJob({ ...context, warn: () => undefined }, { outcome }), context);
  return "deliveries";
}

async function sendEvent(form: URLSearchParams, context: PageContext): Promise<string> {
  const type = form.get("type") ?? "";
  const data = { jobId: "job_from_the_page", status: type.replace(/^job\./, "") };
  const endpointId = form.get("endpointId") ?? "";
  const tampered = form.has("tamper");
  await briefly(context.deliveries.dispatch({ type, data, endpointId, tamper: tampered }).attempted, context);
  return "deliveries";
}

async function replay(form: URLSearchParams, context: PageContext): Promise<string> {
  const { id, endpointId } = deliveryOf(form);
  await briefly(context.deliveries.replay(id, endpointId), context);
  return "deliveries";
}

/** Sends a delivery's event once more under its id, with a body that was changed after signing. */
async function tamper(form: URLSearchParams, context: PageContext): Promise<string> {
  const { id, endpointId } = deliveryOf(form);
  const { type, body } = context.deliveries.latest(id, endpointId);
  const sent = context.deliveries.dispatch({ type, body, id, endpointId, tamper: true });
  await briefly(sent.attempted, context);
  return "deliveries";
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

function deliveryOf(form: URLSearchParams): { id: string; endpointId: string } {
  return { id: form.get("id") ?? "", endpointId: form.get("endpointId") ?? "" };
}

/** Waits until something is done, but not for long: it goes on by itself. */
async function briefly(work: Promise<unknown>, { timers }: PageContext): Promise<void> {
  work.catch(() => undefined);
  await Promise.race([work, timers.sleep(PATIENCE_MS)]);
}
