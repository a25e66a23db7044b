import { WebhookError } from "../client/errors";
import { parseJson } from "../shared/json";
import { hide, spellingsOf } from "../shared/masking";

/** The most of a response that is shown, in characters. */
const LONGEST_SHOWN = 500;

/** What may hold the key with other text in front of it, such as a scheme. */
const BASE64 = /[A-Za-z0-9+/_\\-]{16,}/g;

/** Returns whether a response refused a request and says why. */
export function hasResponse(error: unknown): error is WebhookError & { responseText: string } {
  return (
    error instanceof WebhookError && (error.statusCode ?? 0) >= 400 && Boolean(error.responseText?.trim())
  );
}

/** Returns a warning that shows a refusal: cut, in one line, and without the API key. */
export function describeResponse(error: WebhookError & { responseText: string }, apiKey: string) {
  const { statusCode, responseText } = error;
  const masked = hide(unescaped(responseText), spellingsOf(apiKey)).replace(BASE64, (part) =>
    Buffer.from(part, "base64").includes(apiKey) ? "…" : part,
  );
  const line = masked.replace(/[\p{C}\p{Z}]+/gu, " ").trim();
  const characters = [...line.slice(0, 3 * LONGEST_SHOWN)];
  const shown = characters.slice(0, LONGEST_SHOWN).join("");
  return `the service answered ${statusCode}: ${shown}${characters.length > LONGEST_SHOWN ? " … (cut)" : ""}`;
}

/** JSON may escape any character, also those of the key. What is too deep to be written without that is not shown. */
function unescaped(text: string): string {
  const json = parseJson(text);
  try {
    return json === undefined ? text : JSON.stringify(json);
  } catch {
    return "(JSON that is too deep to be shown)";
  }
}
