import { type Action, deliveryPage, PAGE_PATH, type ShownAttempt } from "../../../page";
import { listen } from "../../../shared/listen";
import { textOf } from "../../../shared/post";
import { shareableHeaders } from "../../capture";
import { CliError } from "../../errors";
import type { Output } from "../../output";
import { describeVerdict } from "./report";
import type { Arrival } from "./server";

/** Bounds the memory that senders can use, with the size of a body. */
const MOST_SHOWN = 100;

interface Entry extends ShownAttempt {
  readonly arrival: Arrival;
}

interface PageOptions {
  readonly port: number;
  /** Forwards a delivery again, and adds what came of it. Undefined if nothing is forwarded. */
  readonly replay: ((arrival: Arrival) => Promise<unknown>) | undefined;
  readonly output: Output;
}

/** Shows what arrives on a page, at a port of its own: a tunnel may lead to the other. @throws CliError `PORT_UNAVAILABLE` */
export async function startPage({ port, replay, output }: PageOptions) {
  let entries: Entry[] = [];
  let count = 0;
  const add = (arrival: Arrival) => {
    count += 1;
    const { isReplay, forwarded, summary } = arrival;
    const { isRefused, verdict, status } = summary;
    const id = summary.id ?? `no id (request ${count})`;
    // A refused request with the id of a delivery is not an attempt of it.
    const endpointId = isRefused ? "refused" : "here";
    const before = entries.filter(
      (each) => each.id === id && each.endpointId === endpointId && !each.replayed,
    );
    entries.push({
      arrival,
      id,
      endpointId,
      event: summary.event ?? "unknown event",
      number: count,
      // A replay has the number of the attempt that it repeats.
      attempt: isReplay ? before.length : before.length + 1,
      replayed: isReplay,
      at: arrival.at.getTime(),
      url: forwarded ? "the receiver of --forward-to" : "this command",
      headers: shareableHeaders(arrival.headers),
      body: arrival.body,
      status,
      note: isRefused ? `refused: ${describeVerdict(summary)}` : `signature ${verdict}`,
      ...(forwarded && {
        status: forwarded.failure === null ? forwarded.status : null,
        durationMs: forwarded.durationMs,
        error: forwarded.failure,
        response: output.masked(textOf(forwarded)),
      }),
    });
    entries = entries.slice(-MOST_SHOWN);
  };
  const replayShown: Action = async (_form, attempt) => {
    const { arrival } = attempt() as Entry;
    if (arrival.summary.isRefused) throw new Error("This delivery was not forwarded.");
    await replay?.(arrival);
  };
  const page = deliveryPage({
    title: "Received deliveries",
    emptyHint: "Waiting for deliveries.",
    attempts: () => entries,
    actions: replay === undefined ? {} : { replay: replayShown },
  });
  const listener = await listen("127.0.0.1", port, page, CliError);
  return { url: `http://127.0.0.1:${listener.port}${PAGE_PATH}`, close: listener.close, add };
}
