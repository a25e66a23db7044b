import { parseJson } from "../../shared/json";
import { validateRegistration } from "../api";
import type { Deliveries } from "../deliveries";
import type { Fault, Faults } from "../faults";
import { runJob } from "../job";
import type { Log, LoggedRequest } from "../log";
import type { Registry } from "../registry";
import type { Secrets } from "../secrets";
import type { Timers } from "../timers";
import type { View } from "./layout";
import type { Action } from "./server";

/** How long an action waits for first answers, in milliseconds, so that the next page shows them. */
const PATIENCE_MS = 300;

/** The parts of an emulator that its page shows and changes. */
export interface PageContext {
  readonly registry: Registry;
  readonly deliveries: Deliveries;
  readonly secrets: Secrets;
  readonly faults: Faults;
  readonly requests: Log<LoggedRequest>;
  readonly timers: Timers;
  readonly homeAccount: string;
  readonly apiKey: () => string;
  readonly now: () => number;
}

/** The actions of the emulator's page. */
export function actionsOf(context: PageContext): Readonly<Record<string, Action>> {
  const { registry, deliveries, secrets, faults, requests, timers, homeAccount } = context;
  return {
    async "run-job"(form) {
      const accounts = registry.accounts.filter((account) => registry.list(account).length > 0);
      if (accounts.length === 0) throw new Error("Cannot run a job: no endpoint is registered.");
      const outcome = form.get("outcome") === "failed" ? "failed" : "succeeded";
      await briefly(Promise.all(accounts.map((account) => runJob(context, { outcome, account }))), timers);
      return {} satisfies Partial<View>;
    },
    /** Sends an event to one endpoint, with a body of its own if the form has one. */
    async send(form) {
      const chosen = form.get("type") ?? "";
      const endpointId = form.get("endpointId") ?? "";
      // Browsers end the lines of a form with CR LF.
      const body = (form.get("body") ?? "").replaceAll("\r\n", "\n");
      const { type } = Object(parseJson(body));
      const event =
        body === ""
          ? { type: chosen, data: { jobId: "job_from_the_page", status: chosen.replace(/^job\./, "") } }
          : { type: typeof type === "string" ? type : chosen, body };
      const sent = deliveries.dispatch({ ...event, endpointId, tamper: form.has("tamper") });
      await briefly(sent.attempted, timers);
      return {} satisfies Partial<View>;
    },
    register(form) {
      const [url, ip] = [form.get("url")?.trim(), form.get("ip")?.trim()];
      const validated = validateRegistration({ url, type: form.get("type"), ...(ip ? { ip } : {}) });
      if ("problem" in validated) throw new Error(`Cannot register an endpoint: ${validated.problem}`);
      return { tab: "endpoints", e: registry.add(homeAccount, validated.input).id } satisfies Partial<View>;
    },
    delete(form) {
      const id = form.get("endpointId") ?? "";
      registry.remove(registry.found(id, "delete").account, id);
    },
    "plant-fault"(form) {
      const times = form.get("times") || Number.POSITIVE_INFINITY;
      const [status, delayMs] = [Number(form.get("status")), Number(form.get("delayMs"))];
      const [operation, kind] = [form.get("operation"), form.get("kind")];
      const more =
        kind === "status"
          ? { status, effect: form.has("effect") }
          : kind?.match(/^(delay|late)/)
            ? { delayMs }
            : {};
      faults.plant({ operation, kind, times: Number(times), ...more } as Fault);
    },
    "remove-fault": (form) => faults.remove(Number(form.get("number"))),
    "clear-requests": () => requests.clear(),
    rotate: () => void secrets.rotate(),
    "finish-rotation": () => secrets.keepNewest(),
  };
}

/** Waits until something is done, but not for long: it goes on by itself. */
export async function briefly(work: Promise<unknown>, timers: Timers): Promise<void> {
  work.catch(() => undefined);
  await Promise.race([work, timers.sleep(PATIENCE_MS)]);
}
