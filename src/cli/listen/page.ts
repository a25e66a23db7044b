import type { RequestListener } from "node:http";
import { EmulatorError } from "../../emulator/errors";
import { Log } from "../../emulator/log";
import { bytesOf } from "../../emulator/page/capture";
import { html } from "../../emulator/page/html";
import { pageHandler } from "../../emulator/page/server";
import type { PageSource, ShownAttempt } from "../../emulator/page/source";
import type { ReceiverRequest, ReceiverResponse } from "../../receiver";
import { dataOfRequest } from "../capture/captureFile";
import { withoutSecrets } from "../knownSecrets";
import { type Forwarded, forward, type Target } from "./forward";
import type { Received, Refused } from "./localReceiver";

export const LISTEN_PAGE_PATH = "/_listen/";
/** How many deliveries the page keeps: bounds the memory that senders can use, with the size of a body. */
const MOST_SHOWN = 200;
/** How much of an answer is kept, in characters. */
const LONGEST_ANSWER = 1_024;

interface ListenPageOptions {
  /** The receiver's address. */
  readonly address: () => string;
  /** Where deliveries are forwarded, and replayed. Without it, none can be replayed. */
  readonly target: Target | undefined;
}

/** Where a delivery went, as the page groups them: refused requests with the id of a genuine delivery are no attempts of it. */
type Destination = "here" | "nobody";

/** What came of a delivery, as the page shows it: `url` is the target's only if the target was asked. */
type Result = Pick<ShownAttempt, "url" | "statusCode" | "error" | "answer" | "answerHeaders" | "durationMs">;

/** A page of what arrives: the emulator's, for the deliveries of a real service. */
export class ListenPage {
  readonly #log = new Log<ShownAttempt>(MOST_SHOWN);
  #count = 0;

  constructor(private readonly options: ListenPageOptions) {}

  /** Answers the requests for the page. */
  handler(): RequestListener {
    const { target, address } = this.options;
    const canReplay = ({ endpointId }: ShownAttempt) => endpointId === "here";
    const replays = async (form: URLSearchParams) => {
      const attempt = this.#log.entries.findLast(({ number }) => String(number) === form.get("number"));
      if (attempt === undefined || !canReplay(attempt) || target === undefined)
        throw new EmulatorError("EMULATOR_UNKNOWN_DELIVERY", "No such delivery is in the list any more.");
      const { id, type, headers } = attempt;
      const request = { method: "POST", headers, body: bytesOf(attempt) };
      const result = resultOf(await forward(request, target));
      this.#add({ id, type, url: target.url, ...result }, request, { replayOf: attempt });
      return "deliveries";
    };
    const clear = async () => {
      this.#log.clear();
      return "deliveries";
    };
    const source: PageSource = {
      title: "Received deliveries",
      emptyHint: `Waiting for deliveries at ${address()}`,
      now: Date.now,
      logged: () => this.#log.entries,
      open: () => [],
      endpoints: () => new Map([["here", { url: target?.url ?? address() }]]),
      toolbar: html``,
      sections: () => [],
      canReplay,
      actions: new Map([
        ["cleared-deliveries", clear],
        ...(target === undefined ? [] : [["replays", replays] as const]),
      ]),
    };
    return pageHandler(source, LISTEN_PAGE_PATH);
  }

  received(
    { id, event, status, forwarded }: Received,
    request: ReceiverRequest,
    answer: ReceiverResponse,
  ): void {
    const { target, address } = this.options;
    const type = event ?? "unknown event";
    const isForwarded = target !== undefined && forwarded !== undefined;
    const result: Result = isForwarded
      ? { url: target.url, ...resultOf({ ...forwarded, response: answer }) }
      : { url: address(), statusCode: status, durationMs: 0 };
    this.#add({ id, type, ...result }, request);
  }

  /** @param request absent if its body was not read */
  refused({ reason, status, unverifiedId }: Refused, request: ReceiverRequest | undefined): void {
    // Requests without an id have nothing to do with one another.
    const id = unverifiedId ?? `no id (request ${this.#count + 1})`;
    const url = this.options.address();
    const shown = { id, type: `refused: ${reason}`, url, statusCode: status, durationMs: 0 };
    // A delivery that came while it was busy was verified.
    this.#add(shown, request, { endpointId: reason === "busy" ? "here" : "nobody" });
  }

  #add(
    { id, type, ...result }: Pick<ShownAttempt, "id" | "type"> & Result,
    request: ReceiverRequest | undefined,
    { endpointId = "here", replayOf }: { endpointId?: Destination; replayOf?: ShownAttempt } = {},
  ): void {
    const { headers = [] } = request ? dataOfRequest(request.headers, request.body) : {};
    const earlier = this.#log.entries.filter(
      (each) => each.id === id && each.endpointId === endpointId && !each.replayed,
    );
    const attempt = replayOf?.attempt ?? earlier.length + 1;
    const replayed = replayOf !== undefined;
    this.#count += 1;
    this.#log.add({
      ...{ number: this.#count, at: Date.now(), id, type, attempt, tampered: false, replayed, ...result },
      endpointId,
      headers: headers.map(([name, value]) => [name.toLowerCase(), value] as const),
      body: request?.body ?? null,
    });
  }
}

function resultOf({ status, failure, durationMs, response }: Forwarded): Omit<Result, "url"> {
  if (status === null) return { statusCode: null, error: failure, durationMs };
  const { headers, body } = response;
  const answer = withoutSecrets(body.slice(0, LONGEST_ANSWER));
  const answerHeaders = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, withoutSecrets(value)] as const),
  );
  return { statusCode: status, error: null, answer, answerHeaders, durationMs };
}
