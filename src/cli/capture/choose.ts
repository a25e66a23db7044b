import { CliError } from "../errors";
import { mayBeKey } from "../mayBeKey";
import type { Capture } from "./headerPair";
import { headerValue } from "./headerPair";

/** How many ids a message names. */
const MOST_NAMED = 5;

/** Returns the capture with the id of `--id`, or the only one. @throws CliError `WRONG_USE` */
export function choose(captures: readonly Capture[], id: string | undefined): Capture {
  const ids = new Set(captures.map(({ headers }) => headerValue(headers, "webhook-id") ?? ""));
  const found = captures.filter(
    ({ headers }) => id === undefined || headerValue(headers, "webhook-id") === id,
  );
  const [first] = found;
  if (first !== undefined && (id !== undefined || ids.size === 1)) return first;
  const named = [...ids].filter((each) => each !== "" && !mayBeKey(each)).slice(0, MOST_NAMED);
  const list = named.length === 0 ? "" : `, such as ${named.join(", ")}`;
  throw new CliError(
    "WRONG_USE",
    `the file has ${captures.length} deliveries: ${id === undefined ? "choose one with --id" : "none has the id of --id"}${list}`,
  );
}
