// Writes the figures of a run into the tables of the documentation, and draws its charts.

const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const echarts = require("echarts");

const docs = path.join(__dirname, "../docs");
const PROGRAMS = ["ours", "by value", "barest", "floor"];
const RECEIVERS = {
  "one process": "handler, memory",
  "one process with `redisDedupe`": "handler, Redis dedupe",
  "a queue, BullMQ on Redis": "BullMQ",
  "a queue, pg-boss on PostgreSQL": "pg-boss",
};

/** @param {Record<string, any>} figures what each benchmark recorded, and the version of the CLI as `cli` */
function writePages({ cli, engine, losses, verification, receiver, queues }) {
  const seconds = (step) => PROGRAMS.map((name) => engine[name].seconds[step].toFixed(1));
  const whole = (value) => Math.round(value).toLocaleString("en");
  fill("benchmarks.md", {
    machine: `Measured on ${new Date().toISOString().slice(0, 10)} with Pulumi ${cli} and Node ${process.versions.node}, on ${os.cpus().length} cores.`,
    engine: table(
      ["", "this package", ...PROGRAMS.slice(1)],
      [
        ["first `up`", ...seconds("up")],
        ["`up` that changes nothing", ...seconds("no-op up")],
        ["`refresh`", ...seconds("refresh")],
        ["`destroy`", ...seconds("destroy")],
        ["state, bytes for each endpoint", ...PROGRAMS.map((name) => whole(engine[name].state.bytes))],
      ],
    ),
    losses: table(
      ["", "this package", "barest"],
      Object.entries(losses).map(([mishap, { ours, barest }]) => [mishap, ours, barest]),
    ),
    verification: table(
      ["", ...Object.keys(verification).map(sizeOf)],
      Object.keys(Object.values(verification)[0]).map((name) => [
        name === "ours" ? "this package" : `\`${name}\``,
        ...Object.values(verification).map((speeds) => speeds[name].toFixed(2)),
      ]),
    ),
    receiver: table(
      ["receiver", "CPU time"],
      [
        ["this package: verification, JSON, dispatch and dedupe", receiver.ours.toFixed(1)],
        ["the same receiver built on `standardwebhooks`", receiver.standardwebhooks.toFixed(1)],
      ],
    ),
    queue: table(
      ["receiver", "CPU time, µs", "deliveries per second"],
      Object.entries({
        "this package with `bullmqQueue`": "BullMQ",
        "the same duties by hand, with `standardwebhooks` and BullMQ": "BullMQ by hand",
      }).map(([label, name]) => [label, whole(queues[name].cpu), whole(queues[name].perSecond)]),
    ),
  });
  fill("deduplication.md", {
    queues: table(
      ["setup", "deliveries per second", "CPU time of the receiver for each"],
      Object.entries(RECEIVERS).map(([label, name]) => [
        label,
        whole(queues[name].perSecond),
        `${whole(queues[name].cpu)} µs`,
      ]),
    ),
  });
  const steps = ["up", "no-op up", "refresh", "destroy"];
  draw("benchmarks-engine.svg", "seconds", {
    groups: steps,
    series: PROGRAMS.map((name) => [name, steps.map((step) => engine[name].seconds[step])]),
  });
  const speeds = Object.values(verification);
  draw("benchmarks-verification.svg", "speed (Node's HMAC: 1)", {
    groups: Object.keys(verification).map(sizeOf),
    series: Object.keys(speeds[0]).map((name) => [name, speeds.map((each) => each[name])]),
  });
}

/** Replaces what stands between the marks of each block. */
function fill(page, blocks) {
  const file = path.join(docs, page);
  let text = fs.readFileSync(file, "utf8");
  for (const [name, block] of Object.entries(blocks)) {
    const marked = new RegExp(`(<!-- bench: ${name} -->\n)[^]*?(<!-- end -->)`);
    if (!marked.test(text)) throw new Error(`${page} has no block ${name}`);
    text = text.replace(marked, (_, begin, end) => `${begin}\n${block}\n\n${end}`);
  }
  fs.writeFileSync(file, text);
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}

/** Draws groups of bars. Each variant of `series` has a value for each group. */
function draw(file, unit, { groups, series }) {
  const chart = echarts.init(null, null, { renderer: "svg", ssr: true, width: 800, height: 320 });
  chart.setOption({
    animation: false,
    backgroundColor: "#fff",
    legend: { top: 8 },
    grid: { left: 56, right: 16, top: 64, bottom: 32 },
    xAxis: { type: "category", data: groups },
    yAxis: { type: "value", name: unit, nameTextStyle: { align: "left" } },
    series: series.map(([name, data]) => ({
      name: name === "ours" ? "this package" : name,
      type: "bar",
      data,
    })),
  });
  fs.writeFileSync(path.join(docs, file), chart.renderToSVGString());
  chart.dispose();
}

function sizeOf(bytes) {
  const units = { B: 1, KiB: 1024, MiB: 1024 ** 2 };
  const [unit, size] = Object.entries(units).findLast(([, each]) => Number(bytes) >= each);
  return `${Number(bytes) / size} ${unit}`;
}

module.exports = { writePages };
