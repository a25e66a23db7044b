/** The page's style sheet. Each color has a light and a dark form. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --back: light-dark(#f6f5f1, #15191a); --card: light-dark(#fffefb, #1d2223); --line: light-dark(#e2dfd6, #2f3637);
  --ink: light-dark(#23282b, #e4e6e3); --soft: light-dark(#5d6261, #a3aba9); --chosen: light-dark(#e6f0ee, #22302f);
  --accent: light-dark(#2f625d, #7fbdb4); --good: light-dark(#1f6b45, #8fd6ab);
  --bad: light-dark(#a3342c, #f2a69d); --busy: light-dark(#80570a, #eac57c);
}
* { box-sizing: border-box; margin: 0; }
body { background: var(--back); color: var(--ink); font: 14px/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
header, nav, main { max-width: 1360px; margin: 0 auto; padding: 0 28px; }
code, pre, textarea { font: 12.5px/1.5 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
a, #live { color: var(--accent); }
h1, h2 { font-size: 18px; line-height: 1.4; }
h2, .filter { margin-bottom: 10px; }
form + h2 { margin-top: 18px; }
h3 { font-size: 13px; color: var(--soft); margin: 12px 0 5px; }
.soft, dt, label { color: var(--soft); font-size: 13px; }
.grow { flex: 1; min-width: 0; overflow-wrap: anywhere; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
[data-live]:focus { outline: none; }
[role="alert"] { color: var(--bad); font-weight: 600; margin-bottom: 14px; }

header, .row, .filter { display: flex; flex-wrap: wrap; align-items: baseline; gap: 6px 12px; }
header { padding-top: 22px; padding-bottom: 14px; align-items: center; }
header .grow { flex-basis: 200px; }
nav { display: flex; flex-wrap: wrap; gap: 0 22px; }
nav a { padding: 7px 1px; color: var(--soft); text-decoration: none; border-bottom: 2px solid transparent; }
nav a[aria-current] { color: var(--ink); font-weight: 600; border-color: var(--accent); }
main { padding-top: 18px; padding-bottom: 60px; border-top: 1px solid var(--line); }

.split { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 26px; align-items: start; }
.split:has(.master) { grid-template-columns: minmax(0, 5fr) minmax(0, 7fr); }
.list, .detail:has(h2), .fields { background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
.detail:has(h2) { padding: 18px 20px; }
#back { display: none; }
.list { list-style: none; padding: 0; overflow: hidden; margin: 8px 0; }
.list > li + li, .detail details { border-top: 1px solid var(--line); }
.list li { padding: 8px 14px; }
.list li > a { display: block; margin: -8px -14px; padding: 8px 14px; color: inherit; text-decoration: none; }
.list li > a:hover, .list a[aria-current] { background: var(--chosen); }
.list li > a:focus-visible { outline-offset: -2px; }
.list li > a .row { flex-wrap: nowrap; }
.list li > a .grow { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.filter input { flex: 1 1 200px; }
@media (scripting: enabled) { .filter button { display: none; } }
time, .badge { white-space: nowrap; font-variant-numeric: tabular-nums; }
.badge { display: inline-block; padding: 0 8px; border-radius: 99px; font: 600 12px/20px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; background: color-mix(in srgb, currentColor 14%, var(--card)); }
.badge.good { color: var(--good); }
.badge.bad { color: var(--bad); }
.badge.busy { color: var(--busy); }

dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 16px; margin-bottom: 12px; align-items: baseline; }
.detail details { padding: 6px 0; margin-top: 8px; }
summary { cursor: pointer; padding: 4px 2px; }
summary > *, h2 > * { margin-right: 8px; }
pre { background: var(--back); border: 1px solid var(--line); border-radius: 8px; padding: 8px 11px; margin-top: 6px; white-space: pre-wrap; max-height: 300px; overflow: auto; }
button, select, input, textarea { font-size: 13px; color: inherit; border: 1px solid var(--line); border-radius: 7px; background: var(--card); padding: 4px 11px; min-height: 32px; min-width: 0; }
button, select, input { font-family: inherit; text-overflow: ellipsis; }
::placeholder { color: var(--soft); opacity: 1; }
button { cursor: pointer; font-weight: 600; }
button:hover { border-color: var(--soft); }
button.primary { background: var(--accent); color: var(--card); }
.fields { display: grid; gap: 10px; padding: 14px; }
.fields label { display: grid; }

@media (max-width: 860px) {
  header, nav, main { padding-left: 16px; padding-right: 16px; }
  nav { gap: 0 12px; }
  .filter input { flex-basis: 100%; }
  pre { max-height: none; }
  .split, .split:has(.master) { grid-template-columns: minmax(0, 1fr); gap: 16px; }
  .split:has(.master):not(.chosen) > .detail, .chosen > .master { display: none; }
  .chosen #back { display: inline-block; margin-bottom: 10px; }
}
`;

/** The page's icon: a hook. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="8" fill="#3d6b66"/>
<path d="M12 7v10.5a4.5 4.5 0 0 0 9 0V15" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round"/>
</svg>
`;
