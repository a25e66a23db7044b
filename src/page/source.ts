import type { ShownAttempt } from "./deliveries";
import type { Html } from "./html";

/** What a page shows. */
export interface PageSource {
  readonly title: string;
  /** What the page says while there are no deliveries. */
  readonly emptyHint: string;
  /** Oldest first. */
  attempts(): readonly ShownAttempt[];
  readonly toolbar?: Html;
  /** Besides the deliveries. */
  readonly tabs?: readonly { readonly id: string; readonly title: string; readonly render: () => Html }[];
  /** By the last part of their path. The deliveries have buttons for `replay`, `all-failed`, `tamper` and `clear`, if these are among them. */
  readonly actions: Readonly<Record<string, Action>>;
}

/**
 * Performs what a form asks for. An error that it throws is shown.
 *
 * @param attempt returns the one whose number the form has
 * @param failed returns the last genuine attempt of each delivery that failed, oldest first
 */
export type Action = (
  form: URLSearchParams,
  attempt: () => ShownAttempt,
  failed: () => readonly ShownAttempt[],
) => unknown;
