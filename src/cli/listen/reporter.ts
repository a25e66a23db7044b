import type { ReceiverRequest } from "../../receiver";
import { dataOfRequest } from "../capture/captureFile";
import type { Output } from "../output";
import type { CaptureFolder } from "./captureFolder";
import { dataOfReceived, dataOfRefused, lineOfReceived, lineOfRefused, linesOfRequest } from "./lines";
import type { Received, Refused } from "./localReceiver";

export interface ReporterOptions {
  readonly output: Output;
  /** Shows headers and body too. */
  readonly isPrinting: boolean;
  /** Undefined if nothing is saved. */
  readonly folder: CaptureFolder | undefined;
}

interface Report {
  readonly id: string | undefined;
  readonly reason: string | undefined;
  readonly data: (at: Date) => object;
  readonly line: (at: Date) => string;
  readonly request: ReceiverRequest | undefined;
}

/** Prints and saves what arrives, in the order in which it was answered. The sender does not wait for it. */
export class Reporter {
  /** Resolves when everything so far is printed and saved. */
  settled: Promise<void> = Promise.resolve();
  readonly #options: ReporterOptions;

  constructor(options: ReporterOptions) {
    this.#options = options;
  }

  received(received: Received, request: ReceiverRequest): void {
    this.#report({
      id: received.id,
      reason: undefined,
      data: (at) => dataOfReceived(received, at),
      line: (at) => lineOfReceived(received, at),
      request,
    });
  }

  /** @param request absent if its body was not read */
  refused(refused: Refused, request: ReceiverRequest | undefined): void {
    this.#report({
      id: refused.unverifiedId,
      reason: refused.reason,
      data: (at) => dataOfRefused(refused, at),
      line: (at) => lineOfRefused(refused, at),
      request,
    });
  }

  #report(report: Report): void {
    const at = new Date();
    this.settled = this.settled.then(() => this.#print(report, at));
  }

  async #print({ id, reason, data, line, request }: Report, at: Date): Promise<void> {
    const { output, isPrinting, folder } = this.#options;
    const saved = request && (await folder?.save(request, { id, reason, receivedAt: at }));
    const shown = isPrinting && request ? dataOfRequest(request.headers, request.body) : undefined;
    output.record(
      { ...data(at), ...shown, ...(folder === undefined ? {} : { capture: saved ?? null }) },
      line(at),
    );
    if (output.json) return;
    for (const each of shown === undefined ? [] : [...linesOfRequest(shown), ""]) output.line(each);
    if (typeof saved === "string") output.line(`  saved as ${saved}`);
  }
}
