import type { EmulatedEvent } from "./event";

/** The body that an event is delivered with. */
export function bodyOf({ type, data = {}, body }: EmulatedEvent): string {
  return body ?? JSON.stringify({ type, data });
}

/** A body of the same kind that says something else. */
export function tampered(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed === "object" && parsed !== null) return JSON.stringify({ ...parsed, tampered: true });
  } catch {
    // Not JSON: changed all the same.
  }
  return `${body} `;
}
