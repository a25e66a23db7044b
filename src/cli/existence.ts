import { systemClock } from "../client/clock";
import { Existence } from "../provider/facts/existence";
import { Service } from "../provider/service";
import type { Context } from "./run";
import type { Account } from "./withAccount";

/** Answers for the command whether an endpoint is gone. */
export function existenceIn({ client }: Account, { output, signal }: Context): Existence {
  const log = { info: (text: string) => output.note(text), warn: (text: string) => output.warn(text) };
  const options = { clock: systemClock, log, cancelled: signal };
  const service = new Service(client, { ...options, showResponsesWithout: undefined });
  return new Existence({ service, ...options });
}
