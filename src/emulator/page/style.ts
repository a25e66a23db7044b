/** The page's style sheet, light and dark. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --back: #f6f5f1; --card: #fffefb; --line: #e2dfd6; --ink: #23282b; --soft: #5d6261;
  --accent: #2f625d; --on-accent: #fff; --chosen: #e6f0ee; --code: #efede6;
  --good: #1f6b45; --good-back: #dff0e4; --bad: #a3342c; --bad-back: #f9e1dd;
  --busy: #80570a; --busy-back: #f8ebcb; --plain: #4c5559; --plain-back: #eae8e0;
  --mono: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #15191a; --card: #1d2223; --line: #2f3637; --ink: #e4e6e3; --soft: #a3aba9;
    --accent: #7fbdb4; --on-accent: #0f1a19; --chosen: #22302f; --code: #161a1b;
    --good: #8fd6ab; --good-back: #1c3a2a; --bad: #f2a69d; --bad-back: #472320;
    --busy: #eac57c; --busy-back: #40331a; --plain: #b9c0be; --plain-back: #2b3233;
  }
}
* { box-sizing: border-box; margin: 0; }
body { background: var(--back); color: var(--ink); font: 14px/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
code, pre, textarea { font-family: var(--mono); font-size: 12.5px; overflow-wrap: anywhere; }
a { color: var(--accent); }
h1 { font-size: 18px; line-height: 1.3; font-weight: 650; }
h2 { font-size: 17px; line-height: 1.4; font-weight: 650; margin-bottom: 10px; }
h3 { font-size: 13px; font-weight: 600; color: var(--soft); margin: 12px 0 5px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
[data-live]:focus, main:focus { outline: none; }
.grow { flex: 1; min-width: 0; }
.soft, .count, dt { color: var(--soft); font-size: 13px; }
.skip:not(:focus) { position: absolute; left: -999px; }

.top, .tabs, main { max-width: 1360px; margin: 0 auto; padding: 0 28px; }
.top { display: flex; flex-wrap: wrap; align-items: center; gap: 10px 14px; padding-top: 22px; padding-bottom: 14px; }
.top img { display: block; }
.top .grow { flex: 1 1 200px; }
.top p, .top code { color: var(--soft); font-size: 12.5px; }
#live:not(:empty)::before { content: "● "; color: var(--good); }
.tabs { display: flex; flex-wrap: wrap; gap: 0 22px; }
.tabs a { padding: 7px 1px; color: var(--soft); text-decoration: none; white-space: nowrap; border-bottom: 2px solid transparent; }
.tabs a:hover { color: var(--ink); }
.tabs a[aria-current] { color: var(--ink); font-weight: 600; border-color: var(--accent); }
main { padding-top: 18px; padding-bottom: 60px; border-top: 1px solid var(--line); max-width: none; }
main > * { max-width: 1304px; margin-left: auto; margin-right: auto; }
[role="alert"] { color: var(--bad); background: var(--bad-back); border-radius: 8px; padding: 8px 14px; margin-bottom: 14px; font-weight: 550; }

.split { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 7fr); gap: 26px; align-items: start; }
.split.even { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
.detail:has(h2) { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 18px 20px; position: sticky; top: 14px; max-height: calc(100vh - 28px); overflow: auto; }
.back { display: none; }
p + pre { margin-top: 6px; }
.list { list-style: none; padding: 0; background: var(--card); border: 1px solid var(--line); border-radius: 12px; overflow: hidden; margin-bottom: 10px; }
.list:empty { display: none; }
.list > li + li { border-top: 1px solid var(--line); }
.list a { display: block; padding: 8px 14px; color: inherit; text-decoration: none; border-left: 3px solid transparent; }
.list a:hover { background: var(--code); }
.list a:focus-visible { outline-offset: -2px; }
.list a[aria-current] { background: var(--chosen); border-color: var(--accent); }
.line, .row { display: flex; align-items: baseline; gap: 4px 10px; }
.line .grow { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.line code { color: var(--soft); }
.row .grow { flex-basis: 160px; }
.row { flex-wrap: wrap; padding: 7px 14px; font-size: 13px; }
.count { margin-bottom: 8px; }
.filter { display: flex; flex-wrap: wrap; gap: 8px; margin-bottom: 8px; }
.filter input { flex: 1 1 200px; }
.scripted .scriptless { display: none; }
time { font-variant-numeric: tabular-nums; font-size: 13px; white-space: nowrap; color: var(--soft); }
time small { font-size: 11px; }
.badge { display: inline-block; padding: 0 8px; border-radius: 99px; font: 600 12px/20px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; white-space: nowrap; color: var(--plain); background: var(--plain-back); }
.badge.good { color: var(--good); background: var(--good-back); }
.badge.bad { color: var(--bad); background: var(--bad-back); }
.badge.busy { color: var(--busy); background: var(--busy-back); }

dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 16px; margin-bottom: 12px; align-items: baseline; }
.actions, .inline { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 12px; }
.attempts { list-style: none; padding: 0; margin-top: 14px; }
.attempts > li { border-top: 1px solid var(--line); padding: 4px 0; }
.attempts > li > details[open] { padding-bottom: 12px; }
summary { cursor: pointer; padding: 4px 2px; border-radius: 6px; }
.attempts summary > *, h2 > * { margin-right: 8px; }
.note { color: var(--busy); font-weight: 550; }
pre { background: var(--code); border: 1px solid var(--line); border-radius: 8px; padding: 8px 11px; white-space: pre-wrap; max-height: 300px; overflow: auto; }
pre + pre { margin-top: 6px; }
button, select, input, textarea { font: inherit; font-size: 13px; color: inherit; border: 1px solid var(--line); border-radius: 7px; background: var(--card); padding: 4px 11px; min-height: 32px; min-width: 0; }
textarea { font: 12.5px/1.5 var(--mono); resize: vertical; }
::placeholder { color: var(--soft); opacity: 1; }
button { cursor: pointer; font-weight: 550; background: var(--back); }
button:hover { border-color: var(--soft); }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.fields { display: grid; grid-template-columns: 1fr 1fr; gap: 10px 14px; padding: 14px; margin-top: 6px; background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
.detail .fields { padding: 0; border: 0; }
.fields label { display: grid; gap: 3px; font-size: 13px; color: var(--soft); align-content: start; }
.fields label > * { color: var(--ink); width: 100%; }
.fields .check { display: flex; align-items: center; gap: 7px; padding-top: 20px; }
.fields .check input { width: auto; min-height: 0; }
.wide { grid-column: 1 / -1; }
.fields .for-status, .fields .for-delay { display: none; }
.fields:has(option[value="status"]:checked) .for-status { display: grid; }
.fields:has(option[value="status"]:checked) .for-status.check { display: flex; }
.fields:has(option[value="delay"]:checked, option[value="late-commit"]:checked) .for-delay { display: grid; }

@media (max-width: 860px) {
  .top, .tabs, main { padding-left: 16px; padding-right: 16px; }
  .split, .split.even { grid-template-columns: minmax(0, 1fr); gap: 16px; }
  .detail:has(h2) { position: static; max-height: none; padding: 14px; }
  .split:not(.even):not(.chosen) > .detail, .chosen > .master { display: none; }
  .back { display: inline-block; margin-bottom: 10px; }
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
