import { FAULT_KINDS, type FaultKind } from "../../fault";
import { FAULT_OPERATIONS, type Faults } from "../../faults";
import { type Html, html } from "../html";
import { actionForm, badge, hidden, options, section, unseen } from "../parts";

const EXPLANATIONS: Readonly<Record<FaultKind, string>> = {
  refuse: "reset before the request is read",
  "reset-before": "reset, without the effect",
  "reset-after": "reset after the effect",
  "hang-before": "no answer, without the effect",
  "hang-after": "no answer after the effect",
  delay: "effect at once, late answer",
  "late-commit": "late effect, no answer",
  status: "another status",
  truncated: "half of the answer, then the connection closes",
  malformed: "half of the JSON",
  empty: "no body",
  oversized: "32 MiB of padding",
};
const LABELS = new Map(FAULT_KINDS.map((kind) => [kind, `${kind}: ${EXPLANATIONS[kind]}`]));

export function faultsSection({ planted }: Faults): Html {
  const items = planted.map(({ number, fault, left, toSkip, hits }) => {
    const times = Number.isFinite(left) ? `${left} more` : "until removed";
    const detail = "status" in fault ? ` ${fault.status}` : "delayMs" in fault ? ` ${fault.delayMs} ms` : "";
    return html`<div class="row" data-key="${number}">${badge("bad", `${fault.kind}${detail}`)}
<span>${fault.operation}${fault.id !== undefined && ` ${fault.id}`}: ${times}${toSkip > 0 && `, after ${toSkip} requests`}, ${hits} so far</span>
<span class="grow"></span>${actionForm("removed-faults", html`${hidden({ number })}<button>Remove${unseen(`fault ${number}: ${fault.kind}`)}</button>`)}</div>`;
  });
  const note = planted.length === 0 ? "works as it should" : `${planted.length} planted`;
  const removeAll = html`<div class="row" data-key="all">${actionForm("removed-faults", html`<button>Remove all faults</button>`)}</div>`;
  return section({ id: "faults", title: "Break the service", note, form: plantForm() }, [
    ...items,
    ...(items.length > 1 ? [removeAll] : []),
  ]);
}

/** The fields of other kinds are hidden by the style sheet. */
function plantForm(): Html {
  return actionForm(
    "faults",
    html`<label>Requests <select name="operation">${options(FAULT_OPERATIONS)}</select></label>
<label>How often <input name="times" type="number" min="1" max="999999999" value="1" placeholder="always"></label>
<label class="wide">Fault <select name="kind">${options(FAULT_KINDS, { labels: LABELS })}</select></label>
<label class="for-status">Status <input name="status" type="number" min="200" max="599" value="503"></label>
<label class="for-status check"><input name="effect" type="checkbox"> with the effect</label>
<label class="for-delay">Delay in ms <input name="delayMs" type="number" min="0" max="999999999" value="2000"></label>
<button class="wide">Plant the fault</button>
<p class="hint wide">Leave “How often” empty to break every request until you remove the fault.</p>`,
    "fields",
  );
}
