import type { LoggedAttempt, OpenAttempt } from "../deliveries/event";
import type { Html } from "./html";
import type { View } from "./view";

export type HeaderPair = readonly [name: string, value: string];

/** An attempt with its result, or without one while the receiver has not answered. */
export type ShownAttempt = Omit<OpenAttempt, "body" | "headers"> &
  Partial<Omit<LoggedAttempt, "body" | "headers">> & {
    /** A string is sent as UTF-8. Null if the request was refused before it was read. */
    readonly body: string | Uint8Array | null;
    /** Those to show, to copy and to save: none that holds a credential. In a list, all that came. */
    readonly headers: Readonly<Record<string, string>> | readonly HeaderPair[];
  };

/** Performs an action and returns the id of the section that shows the result. Throws an EmulatorError for an invalid form. */
type Action = (form: URLSearchParams) => Promise<string>;

/** A part of the page next to the deliveries. */
interface Section {
  readonly id: string;
  readonly title: string;
  readonly content: Html;
}

/**
 * What a page shows and does. The page itself knows only deliveries: how they are grouped, filtered, shown, copied and saved. Everything
 * else comes from here, so that another source of deliveries than the emulator can have the same page.
 */
export interface PageSource {
  /** Such as `Webhook emulator`. */
  readonly title: string;
  /** What the page says while there are no deliveries. */
  readonly emptyHint: string;
  readonly now: () => number;
  /** Every attempt that has a result, oldest first. The array may grow; another array is read from its start. */
  readonly logged: () => readonly ShownAttempt[];
  /** The attempts without a result. */
  readonly open: () => Iterable<ShownAttempt>;
  /** Where deliveries go now, by id. A delivery to any other endpoint gets no more attempts. */
  readonly endpoints: () => ReadonlyMap<string, { readonly url: string }>;
  /** The buttons at the top. */
  readonly toolbar: Html;
  /** `origin` is the address at which the browser reached the page, without a path. */
  readonly sections: (page: { readonly origin: string; readonly view: View }) => readonly Section[];
  /**
   * The actions by the last part of their path. The page has buttons for three of them, if they are here: `replays` and `forgeries` get the
   * `number` of an attempt, and `cleared-deliveries` gets nothing.
   */
  readonly actions: ReadonlyMap<string, Action>;
  /** Which attempts the action `replays` takes. Default: each. */
  readonly canReplay?: (attempt: ShownAttempt) => boolean;
}
