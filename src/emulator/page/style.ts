/** The page's style sheet, light and dark. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --back: #f6f5f1; --card: #fffefb; --line: #e2dfd6; --ink: #23282b; --soft: #5d6261;
  --accent: #2f625d; --on-accent: #fff; --code: #efede6;
  --good: #1f6b45; --good-back: #dff0e4; --bad: #a3342c; --bad-back: #f9e1dd;
  --busy: #80570a; --busy-back: #f8ebcb; --plain: #4c5559; --plain-back: #eae8e0;
  --mono: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #15191a; --card: #1d2223; --line: #2f3637; --ink: #e4e6e3; --soft: #a3aba9;
    --accent: #7fbdb4; --on-accent: #0f1a19; --code: #161a1b;
    --good: #8fd6ab; --good-back: #1c3a2a; --bad: #f2a69d; --bad-back: #472320;
    --busy: #eac57c; --busy-back: #40331a; --plain: #b9c0be; --plain-back: #2b3233;
  }
}
* { box-sizing: border-box; margin: 0; }
body { background: var(--back); color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
code, pre { font-family: var(--mono); font-size: 12.5px; overflow-wrap: anywhere; }
.top, main, #alert { max-width: 1320px; margin: 0 auto; padding: 0 28px; }
.top { display: flex; flex-wrap: wrap; align-items: center; gap: 12px 16px; padding-top: 26px; padding-bottom: 18px; }
.top img { display: block; }
h1 { font-size: 19px; line-height: 1.25; font-weight: 650; letter-spacing: -0.01em; }
.top code { color: var(--soft); }
#live { font-size: 12px; color: var(--soft); }
#live.on::before, #live.off::before { content: ""; display: inline-block; width: 8px; height: 8px; margin-right: 6px; border-radius: 50%; background: var(--good); }
#live.off::before { background: var(--bad); }
.grow { flex: 1; }
#alert p, #alert:not(:empty) { color: var(--bad); font-weight: 550; }
#alert:not(:empty) { padding-bottom: 14px; }
main { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 460px); gap: 28px; padding-bottom: 60px; align-items: start; }
main > #alert { grid-column: 1 / -1; padding: 0; }
#alert:empty { display: none; }
.jumps { display: none; }
@media (max-width: 940px) {
  main { grid-template-columns: minmax(0, 1fr); gap: 0; }
  section { scroll-margin-top: 52px; }
  .jumps { display: flex; gap: 4px 16px; position: sticky; top: 0; z-index: 1; overflow-x: auto; padding: 9px 28px; margin-bottom: 12px; justify-content: start; background: var(--back); border-bottom: 1px solid var(--line); white-space: nowrap; }
}
section { margin-bottom: 28px; scroll-margin-top: 12px; }
section header[data-key="heading"] { display: flex; align-items: baseline; gap: 10px; margin-bottom: 9px; }
h2 { font-size: 15px; font-weight: 650; }
section header[data-key="heading"] p { color: var(--soft); font-size: 13px; }
.items { display: grid; gap: 7px; }
.items:empty { display: none; }
.card, .row, .empty, .fields, .items > pre { background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
.card { padding: 3px 12px; min-width: 0; }
.card > details[open] { padding-bottom: 10px; }
.card > details > summary { padding: 5px 2px; }
.card summary code { color: var(--soft); min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.filter { display: flex; flex-wrap: wrap; align-items: center; gap: 7px; margin-bottom: 9px; font-size: 13px; }
.filter input { flex: 2 1 180px; }
.filter select { flex: 1 1 110px; max-width: 100%; }
.live .scriptless { display: none; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.links { display: flex; flex-wrap: wrap; gap: 4px 14px; }
.fold { margin-top: 9px; }
.count, .duration { color: var(--soft); }
.card footer, .row { display: flex; flex-wrap: wrap; align-items: center; gap: 6px 9px; }
.id { color: var(--soft); }
.attempts + footer .id { flex: 1 0 100%; }
.card footer { margin-top: 9px; }
.url { margin-top: 5px; }
.url small, .hint, .empty, .same { color: var(--soft); font-size: 13px; }
.row { padding: 7px 12px; font-size: 13px; }
#requests .items, #secrets .items { gap: 0; background: var(--card); border: 1px solid var(--line); border-radius: 10px; overflow: hidden; }
#requests .items > *, #secrets .items > * { border: 0; border-radius: 0; background: none; }
#requests .items > * + *, #secrets .items > * + * { border-top: 1px solid var(--line); }
.empty { padding: 18px; text-align: center; border-style: dashed; background: none; }
time { font-variant-numeric: tabular-nums; font-size: 13px; white-space: nowrap; }
time small { font-size: 11px; }
.badge { display: inline-block; padding: 0 8px; border-radius: 99px; font-size: 12px; line-height: 20px; font-weight: 600; white-space: nowrap; color: var(--plain); background: var(--plain-back); }
.badge.good { color: var(--good); background: var(--good-back); }
.badge.bad { color: var(--bad); background: var(--bad-back); }
.badge.busy { color: var(--busy); background: var(--busy-back); }
.attempts { list-style: none; padding: 0; margin-top: 7px; border-top: 1px solid var(--line); }
.attempts li { border-bottom: 1px solid var(--line); }
.attempts summary { font-size: 13px; }
summary { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 9px; padding: 4px 2px; cursor: pointer; font-size: 13px; list-style: none; border-radius: 6px; }
summary::-webkit-details-marker { display: none; }
summary::before { content: "›"; width: 10px; color: var(--soft); transition: transform 0.12s; }
details[open] > summary::before { transform: rotate(90deg); }
summary > span:first-child { min-width: 76px; }
.next, summary time { color: var(--soft); }
.exchange { padding: 2px 0 12px 19px; display: grid; gap: 6px; }
h3 { font-size: 12px; font-weight: 600; color: var(--soft); margin-top: 4px; }
.exchange p { font-size: 13px; }
pre { background: var(--code); border-radius: 8px; padding: 9px 11px; white-space: pre-wrap; max-height: 320px; overflow: auto; }
.items > pre { background: var(--card); white-space: pre; }
nav { display: flex; gap: 14px; justify-content: center; font-size: 13px; padding: 6px; }
.pager { color: var(--soft); }
a { color: var(--accent); }
button, select, input, textarea { font: inherit; font-size: 13px; color: inherit; border: 1px solid var(--line); border-radius: 7px; background: var(--back); padding: 3px 10px; min-height: 30px; }
select, input, textarea { background: var(--card); min-width: 0; }
::placeholder { color: var(--soft); opacity: 1; }
textarea { font-family: var(--mono); font-size: 12.5px; resize: vertical; }
button { cursor: pointer; font-weight: 500; }
button:hover { border-color: var(--soft); }
button:active { transform: translateY(1px); }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.top button { min-height: 34px; padding: 4px 15px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.inline { display: inline-flex; flex-wrap: wrap; gap: 7px; }
.fields { display: grid; grid-template-columns: 1fr 1fr; gap: 11px 13px; padding: 14px; margin-top: 9px; }
.fields label { display: grid; gap: 3px; font-size: 12.5px; color: var(--soft); align-content: start; }
.fields label > * { color: var(--ink); width: 100%; }
.fields .check { display: flex; align-items: center; gap: 7px; padding-top: 20px; }
.fields .check input { width: auto; min-height: 0; }
.wide { grid-column: 1 / -1; }
.card .fields { padding: 10px 0; margin: 0; border: 0; background: none; }
@supports selector(:has(*)) {
  .for-status, .fields .for-status, .fields .for-delay { display: none; }
  .fields:has(option[value="status"]:checked) .for-status { display: grid; }
  .fields:has(option[value="status"]:checked) .for-status.check { display: flex; }
  .fields:has(option[value="delay"]:checked, option[value="late-commit"]:checked) .for-delay { display: grid; }
}
@media (max-width: 480px) {
  .top, main, .jumps { padding-left: 14px; padding-right: 14px; }
  .card > details > summary code { flex: 1 0 100%; order: 1; padding-left: 19px; }
  #deliveries .card > details > summary strong { flex: 1; }
  .card > details > summary .count { display: none; }
}
.skip { position: absolute; left: -999px; }
.skip:focus { left: 12px; top: 8px; background: var(--card); padding: 6px 12px; border-radius: 7px; }
@media (prefers-reduced-motion: no-preference) {
  .arrived { animation: arrive 0.9s ease-out; }
  @keyframes arrive { from { background: var(--busy-back); } }
}
`;

/** The page's icon: a hook that sends events. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="8" fill="#3d6b66"/>
<g fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round">
<path d="M12 7v10.5a4.5 4.5 0 0 0 9 0V15"/><path d="M17.8 17.6 21 14.4l3.2 3.2"/></g>
<circle cx="12" cy="7" r="2.2" fill="#fff"/>
</svg>
`;
