// Records the demo as an animated picture: `npm run pictures`. A picture in a page can't run a script, so the animation is in its markup.

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const ROWS = 30;
const COLUMNS = 112;
const LINE_HEIGHT = 18;
const CHARACTER_WIDTH = 7.8;
const PADDING = 16;
/** The longest pause that is kept, and how long the last line stays, in seconds. */
const LONGEST_PAUSE = 0.8;
const LAST = 6;

/** Runs a script, and returns its lines with the times at which they came, in seconds. */
async function record(script) {
  const child = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = [];
  let rest = "";
  let [time, before] = [0, performance.now()];
  child.stdout.setEncoding("utf8").on("data", (text) => {
    time += Math.min((performance.now() - before) / 1000, LONGEST_PAUSE);
    before = performance.now();
    const parts = (rest + text).split("\n");
    rest = parts.pop();
    lines.push(...parts.map((line) => ({ time, line })));
  });
  const status = await new Promise((resolve) => child.once("close", resolve));
  if (status !== 0) throw new Error(`${script} ended with ${status}`);
  return lines;
}

function draw(lines) {
  const duration = lines.at(-1).time + LAST;
  const height = ROWS * LINE_HEIGHT + 2 * PADDING;
  const width = COLUMNS * CHARACTER_WIDTH + 2 * PADDING;
  const texts = lines.map(({ line }, row) => {
    const y = PADDING + (row + 0.75) * LINE_HEIGHT;
    return `<text x="${PADDING}" y="${y}"${styleOf(line)}>${escaped(line.slice(0, COLUMNS))}</text>`;
  });
  // Lines appear because what covers them moves down; and once the picture is full, everything moves up.
  const shown = lines.map((_, row) => Math.min(row + 1, ROWS) * LINE_HEIGHT);
  const scrolled = lines.map((_, row) => `0 ${-Math.max(row + 1 - ROWS, 0) * LINE_HEIGHT}`);
  const timing = `keyTimes="${lines.map(({ time }, row) => (row === 0 ? 0 : (time / duration).toFixed(4))).join(";")}" calcMode="discrete" dur="${duration.toFixed(1)}s" repeatCount="indefinite"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13" fill="#c9d1d9">
<style>text { white-space: pre } .heading { fill: #79c0ff; font-weight: bold } .claim { fill: #56d364 } .quote { fill: #8b949e }</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<clipPath id="shown"><rect width="100%" y="${PADDING}" height="${ROWS * LINE_HEIGHT}"><animate attributeName="height" values="${shown.join(";")}" ${timing}/></rect></clipPath>
<g clip-path="url(#shown)"><g>
<animateTransform attributeName="transform" type="translate" values="${scrolled.join(";")}" ${timing}/>
${texts.join("\n")}
</g></g>
</svg>
`;
}

function styleOf(line) {
  if (line.startsWith("──")) return ' class="heading"';
  if (line.includes("✓")) return ' class="claim"';
  return line.includes("│") ? ' class="quote"' : "";
}

function escaped(text) {
  return text.replace(/[&<]/g, (character) => ({ "&": "&amp;", "<": "&lt;" })[character]);
}

async function main() {
  const root = path.join(__dirname, "..");
  const lines = await record(path.join(root, "scripts/demo.js"));
  fs.writeFileSync(path.join(root, "docs/demo.svg"), draw(lines));
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
