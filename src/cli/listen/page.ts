import type { Mask } from "../mask";
import type { Arrival } from "./receiver";

interface PageOptions {
  readonly port: number;
  readonly replay: ((arrival: Arrival) => Promise<unknown>) | undefined;
  readonly mask: Mask;
}

/** Stands in for the page, which comes with the new emulator. */
export async function startPage(_options: PageOptions) {
  return { url: "", close: async () => undefined, add: (_arrival: Arrival, _how?: object) => undefined };
}
