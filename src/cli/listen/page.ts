import http from "node:http";
import type { ShownAttempt } from "../../emulator/page/attempts";
import { deliveryPage } from "../../emulator/page/server";
import { shareableHeaders } from "../capture";
import type { Mask } from "../mask";
import { type Arrival, serve } from "./receiver";

const PATH = "/_listen/";
/** Bounds the memory that senders can use, with the size of a body. */
const MOST_SHOWN = 100;
/** How much of an answer is shown, in characters. */
const LONGEST_ANSWER = 1_024;

interface PageOptions {
  readonly port: number;
  /** Forwards a delivery again, and adds what came of it. Undefined if nothing is forwarded. */
  readonly replay: ((arrival: Arrival) => Promise<unknown>) | undefined;
  readonly mask: Mask;
}

/** Shows what arrives on the emulator's page, at a port of its own: a tunnel may lead to the other. @throws CliError `PORT_UNAVAILABLE` */
export async function startPage({ port, replay, mask }: PageOptions) {
  let entries: { readonly arrival: Arrival; readonly attempt: ShownAttempt }[] = [];
  let count = 0;
  const add = (arrival: Arrival, { replayed = false } = {}) => {
    count += 1;
    const { id = `no id (request ${count})`, isRefused, event = "unknown event", forwarded } = arrival;
    // A refused request with the id of a delivery is not an attempt of it.
    const endpointId = isRefused ? "refused" : "here";
    const before = entries.filter(
      ({ attempt }) => attempt.id === id && attempt.endpointId === endpointId && !attempt.replayed,
    ).length;
    const attempt: ShownAttempt = {
      id,
      endpointId,
      type: event,
      number: count,
      // A replay has the number of the attempt that it repeats.
      attempt: replayed ? before : before + 1,
      replayed,
      at: arrival.at.getTime(),
      url: forwarded === undefined ? "this command" : "the receiver of --forward-to",
      headers: shareableHeaders(arrival.headers),
      body: arrival.body,
      statusCode: forwarded === undefined ? arrival.status : forwarded.status,
      note: isRefused ? `refused: ${arrival.verdict}` : `signature ${arrival.verdict}`,
      ...(forwarded && {
        durationMs: forwarded.durationMs,
        error: forwarded.failure,
        answer: mask.apply(forwarded.body.toString("utf8", 0, LONGEST_ANSWER)),
      }),
    };
    entries.push({ arrival, attempt });
    entries = entries.slice(-MOST_SHOWN);
  };
  const replayShown = async ({ number }: ShownAttempt) => {
    const arrival = entries.find(({ attempt }) => attempt.number === number)?.arrival;
    if (arrival === undefined || arrival.isRefused) throw new Error("This delivery was not forwarded.");
    await replay?.(arrival);
  };
  const handler = deliveryPage(
    {
      title: "Received deliveries",
      emptyHint: "Waiting for deliveries.",
      attempts: () => entries.map(({ attempt }) => attempt),
      ...(replay !== undefined && { replay: replayShown }),
      clear: () => {
        entries = [];
      },
    },
    PATH,
  );
  const { url, close } = await serve(http.createServer(handler), { port, option: "--page" });
  return { url: `${url}${PATH}`, close, add };
}
