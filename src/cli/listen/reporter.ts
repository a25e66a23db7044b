import type { ReceiverRequest } from "../../receiver";
import { dataOfRequest, type RequestData } from "../capture/captureFile";
import type { Output } from "../output";
import type { CaptureFolder } from "./captureFolder";
import type { Received, Refused } from "./localReceiver";

/** How much of a body is shown to people, in characters. With `--json`, it is whole. */
const SHOWN_BODY_LENGTH = 16 * 1024;

interface ReporterOptions {
  readonly output: Output;
  /** Prints the first line. */
  readonly printAddress: () => void;
  /** Shows headers and body too. */
  readonly isPrinting: boolean;
  /** Undefined if nothing is saved. */
  readonly folder: CaptureFolder | undefined;
}

interface Report {
  readonly id: string | undefined;
  readonly reason: string | undefined;
  readonly receivedAt: Date;
  readonly data: object;
  readonly line: string;
  readonly request: ReceiverRequest | undefined;
}

/**
 * Prints and saves what arrives, in the order in which it was answered. The sender does not wait for it. What arrives before the address
 * was printed waits for that, because programs read the address from the first line.
 */
export class Reporter {
  #waiting: Report[] | undefined = [];
  #printed: Promise<void> = Promise.resolve();

  constructor(private readonly options: ReporterOptions) {}

  /** Prints the address, and what has arrived until now. */
  start(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    this.options.printAddress();
    for (const report of waiting) this.#enqueue(report);
  }

  /** Resolves when everything so far is printed and saved, also if it never started. */
  async end(): Promise<void> {
    if (this.#waiting !== undefined && this.#waiting.length > 0) this.start();
    await this.#printed;
  }

  received(received: Received, request: ReceiverRequest): void {
    const receivedAt = new Date();
    this.#enqueue({
      ...{ id: received.id, reason: undefined, receivedAt, request },
      data: dataOfReceived(received, receivedAt),
      line: lineOfReceived(received, receivedAt),
    });
  }

  /** @param request absent if its body was not read */
  refused(refused: Refused, request: ReceiverRequest | undefined): void {
    const receivedAt = new Date();
    this.#enqueue({
      ...{ id: refused.unverifiedId, reason: refused.reason, receivedAt, request },
      data: dataOfRefused(refused, receivedAt),
      line: lineOfRefused(refused, receivedAt),
    });
  }

  #enqueue(report: Report): void {
    if (this.#waiting !== undefined) this.#waiting.push(report);
    else this.#printed = this.#printed.then(() => this.#print(report));
  }

  async #print({ id, reason, receivedAt, data, line, request }: Report): Promise<void> {
    const { output, isPrinting, folder } = this.options;
    const saved = request && (await folder?.save(request, { id, reason, receivedAt }));
    const shown = isPrinting && request ? dataOfRequest(request.headers, request.body) : undefined;
    output.record({ ...data, ...shown, ...(folder === undefined ? {} : { capture: saved ?? null }) }, line);
    if (output.json) return;
    for (const each of shown === undefined ? [] : [...linesOfRequest(shown), ""]) output.line(each);
    if (typeof saved === "string") output.line(`  saved as ${saved}`);
  }
}

function dataOfReceived({ event, jobId, forwarded, ...rest }: Received, at: Date): object {
  return {
    time: at.toISOString(),
    verified: true,
    event: event ?? null,
    jobId: jobId ?? null,
    ...rest,
    forwarded: forwarded ?? null,
  };
}

function dataOfRefused({ unverifiedId, ...rest }: Refused, at: Date): object {
  return { time: at.toISOString(), verified: false, ...rest, unverifiedId: unverifiedId ?? null };
}

function lineOfReceived({ event, jobId, id, status, forwarded }: Received, at: Date): string {
  const what = `${clock(at)}  ${event ?? "unknown event"}  ${jobId ?? "no job"}  ${id}`;
  if (forwarded === undefined) return `${what}  verified`;
  const { failure, durationMs } = forwarded;
  const result =
    failure === null
      ? `${status} after ${durationMs} ms`
      : `${status}, because the target did not answer (${failure})`;
  return `${what}  verified, forwarded: ${result}`;
}

function lineOfRefused({ reason, status, unverifiedId }: Refused, at: Date): string {
  const id = unverifiedId === undefined ? "" : `  ${unverifiedId}`;
  return `${clock(at)}  refused with ${status}: ${reason}${id}`;
}

function linesOfRequest({ headers, body, isBase64Encoded }: RequestData): string[] {
  const left = body.length - SHOWN_BODY_LENGTH;
  const text = left > 0 ? `${body.slice(0, SHOWN_BODY_LENGTH)}… (${left} more characters)` : body;
  const lines = [
    ...headers.map(([name, value]) => `${name}: ${value}`),
    "",
    ...(isBase64Encoded ? ["(not UTF-8, in base64)"] : []),
    ...text.split(/\r?\n/),
  ];
  return lines.map((line) => `  ${line}`.trimEnd());
}

function clock(at: Date): string {
  return at.toTimeString().slice(0, 8);
}
