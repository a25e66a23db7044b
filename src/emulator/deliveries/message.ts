import { randomBytes } from "node:crypto";

export function newId(): string {
  return `msg_${randomBytes(12).toString("hex")}`;
}

/** Returns a changed body, still JSON if it was a JSON object. */
export function tampered(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed === "object" && parsed !== null) {
      const changed = JSON.stringify({ ...parsed, tampered: true });
      if (changed !== body) return changed;
    }
  } catch {
    // Not JSON: append a space.
  }
  return `${body} `;
}
