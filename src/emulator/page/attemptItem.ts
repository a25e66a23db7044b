import { isUtf8 } from "node:buffer";
import { bytesOf, fileNameOf, headersOf } from "./capture";
import { isAccepted, isOpen } from "./deliveryState";
import { type Html, html } from "./html";
import { prettyJson } from "./json";
import { actionForm, badge, hidden, pre, short, time, unseen } from "./parts";
import type { ShownAttempt } from "./source";

/** Headers of an answer that can hold a secret of the receiver. */
const SECRET_HEADER = /cookie|auth|token|secret|password|key|session/i;

interface AttemptItemOptions {
  readonly previous: ShownAttempt | undefined;
  /** Whether the next attempt follows by itself. */
  readonly waiting: boolean;
  /** True if the details are open at first. */
  readonly open: boolean;
  readonly canReplay: boolean;
}

/** An attempt of a delivery: a line, and the request and the answer below it. */
export function attemptItem(attempt: ShownAttempt, options: AttemptItemOptions): Html {
  const { at, number, retryInMs, durationMs } = attempt;
  const next = options.waiting && html`<span class="next">next ${time(at + (retryInMs ?? 0))}</span>`;
  const duration = durationMs !== undefined && html`<span class="duration">${durationMs} ms</span>`;
  return html`<li><details data-key="${number}"${options.open && html` open`}>
<summary><span>${nameOf(attempt)}</span> ${time(at)} <span aria-hidden="true">→</span> ${resultBadge(attempt)} ${duration} ${next}</summary>
<div class="exchange"><h3>Request</h3>${requestOf(attempt, options.previous)}
<h3>Answer</h3>${answerOf(attempt)}
${options.canReplay && replayForm(attempt)}</div>
</details></li>`;
}

function nameOf({ attempt, tampered, replayed }: ShownAttempt): string {
  if (tampered) return replayed ? "Tampered, replayed" : "Tampered";
  return replayed ? `Replay of attempt ${attempt}` : `Attempt ${attempt}`;
}

export function replayForm({ number, attempt, tampered, type, endpointId }: ShownAttempt): Html {
  // A replay repeats what its original did.
  const repeated = tampered ? "the tampered attempt" : `attempt ${attempt}`;
  const name = html`Replay ${repeated}${unseen(`of ${type} to ${endpointId}, number ${number}`)}`;
  return actionForm(
    "replays",
    html`${hidden({ number })}<button title="Send the same bytes again">${name}</button>`,
  );
}

function requestOf(attempt: ShownAttempt, previous: ShownAttempt | undefined): Html {
  if (attempt.body === null) return html`<p>To ${short(attempt.url, 2000)}, refused before it was read.</p>`;
  return html`${pre(requestText(attempt))}
${requestBody(attempt, previous)}${copyLinks(attempt)}`;
}

function requestText(attempt: ShownAttempt): string {
  const lines = headersOf(attempt).map(([name, value]) => `${name}: ${value}`);
  return [`POST ${short(attempt.url, 2000)}`, ...lines].join("\n");
}

function requestBody(attempt: ShownAttempt, previous: ShownAttempt | undefined): Html {
  const bytes = bytesOf(attempt);
  if (previous !== undefined && bytesOf(previous).equals(bytes))
    return html`<p class="same">The same body as before.</p>`;
  return content(bytes, `request-${attempt.number}`);
}

/** JSON is indented, with what was sent below it. Bytes that are not UTF-8 are shown in hexadecimal. */
function content(bytes: Buffer, key: string): Html {
  if (bytes.length === 0) return html`<p class="same">No body.</p>`;
  if (!isUtf8(bytes))
    return html`<p class="same">${bytes.length} bytes that are not UTF-8:</p>${pre(hex(bytes))}`;
  const text = bytes.toString("utf8");
  const pretty = prettyJson(text);
  if (pretty === undefined || pretty === text) return pre(text);
  return html`${pre(pretty)}<details data-key="${key}" class="raw"><summary>Raw: ${bytes.length} bytes</summary>${pre(text)}</details>`;
}

function hex(bytes: Buffer): string {
  const digits = bytes.subarray(0, 4096).toString("hex");
  return (digits.match(/.{1,32}/g) ?? []).join("\n");
}

/** Without the script, the first two open as text. */
function copyLinks(attempt: ShownAttempt): Html {
  const { number, type } = attempt;
  const which = unseen(`of ${type}, number ${number}`);
  const path = `./attempts/${number}`;
  const file = fileNameOf(attempt);
  return html`<p class="links"><a href="${path}/curl" data-copy>Copy as curl${which}</a> ${isUtf8(bytesOf(attempt)) && html`<a href="${path}/body" data-copy>Copy the body${which}</a>`}
<a href="${path}/capture" download="${file}" title="For: npx pulumi-webhook-endpoints verify --capture ${file}">Save for verify${which}</a></p>`;
}

function answerOf({ statusCode, error, answer, answerHeaders, durationMs, number }: ShownAttempt): Html {
  if (statusCode === undefined) return html`<p>None yet.</p>`;
  const after = `after ${durationMs ?? 0} ms`;
  if (statusCode === null) return html`<p>None: <code>${error ?? "no connection"}</code> ${after}</p>`;
  const lines = Object.entries(answerHeaders ?? {}).map(
    ([name, value]) => `${name}: ${SECRET_HEADER.test(name) ? "(hidden)" : value}`,
  );
  return html`<p>Status <code>${statusCode}</code> ${after}</p>${lines.length > 0 && pre(lines.join("\n"))}
${answer != null && answer !== "" && content(Buffer.from(answer), `answer-${number}`)}`;
}

export function resultBadge(attempt: ShownAttempt): Html {
  if (isOpen(attempt)) return badge("busy", "waiting");
  const result = attempt.statusCode ?? attempt.error ?? "no answer";
  return badge(isAccepted(attempt) === attempt.tampered ? "bad" : "good", result);
}
