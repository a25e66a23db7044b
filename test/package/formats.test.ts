import { execFileSync } from "node:child_process";
import { read, root } from "./pages";

const { exports } = JSON.parse(read("package.json"));
/** The subpaths that have both formats. */
const subpaths = Object.keys(exports).filter((subpath) => exports[subpath].import !== undefined);

/** Runs an ES module that has `require`, the package's name `name`, and `print`. Returns what it prints, as JSON. */
function run(code: string): unknown {
  const module = `
    import { createRequire } from "node:module";
    const require = createRequire(${JSON.stringify(`${root}/`)});
    const name = "pulumi-webhook-endpoints";
    const print = (value) => process.stdout.write(JSON.stringify(value));
    ${code}`;
  const args = ["--input-type=module", "-e", module];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: "utf8" }));
}

test("what a receiver imports has both formats, with the same names", () => {
  const receivers = ["client", "emulator", "signature", "stack", "validation", "receiver", "receiver/queues"];
  const adapters = ["node", "fetch", "fastify", "lambda"].map((adapter) => `receiver/${adapter}`);
  expect([...subpaths].sort()).toEqual([...receivers, ...adapters].map((each) => `./${each}`).sort());
  const names = run(`
    const names = {};
    for (const subpath of ${JSON.stringify(subpaths)}) {
      const imported = Object.keys(await import(name + subpath.slice(1)));
      names[subpath] = [imported, Object.keys(require(name + subpath.slice(1)))].map((each) => each.sort());
    }
    print(names);`) as Record<string, [string[], string[]]>;
  for (const subpath of subpaths) expect(names[subpath]?.[0]).toEqual(names[subpath]?.[1]);
  expect(names["./client"]?.[0]).toContain("WebhookError");
});

test("instanceof recognizes an error of the other format by its class and those that this extends, and no other", () => {
  const found = run(`
    const formats = await Promise.all(["client", "signature", "stack", "receiver/queues"].map(async (part) =>
      [await import(name + "/" + part), require(name + "/" + part)]));
    const all = [0, 1].map((format) => Object.assign({}, ...formats.map((each) => each[format])));
    const options = { code: "NOT_FOUND", outcome: "undecided" };
    print(all.map((mine, format) => {
      const other = all[1 - format];
      const errors = [
        new mine.WebhookEndpointNotFoundError("gone", options), new mine.WebhookRegistrationError("lost", options),
        new mine.WebhookError("failed", options), new mine.WebhookSecretError("is empty"), new mine.ReceiverConfigError("CONFIG_INVALID", "no"),
        new Error("none"), { name: "WebhookError" }, null, Object.create(null),
      ];
      class Own extends other.WebhookError {}
      const classes = Object.entries(other).filter(([name]) => name.endsWith("Error"));
      return errors.map((error) =>
        [...classes, ["Own", Own]].flatMap(([name, each]) => (error instanceof each ? name : [])).sort());
    }));`);
  const expected = [
    ["WebhookEndpointNotFoundError", "WebhookError"],
    ["WebhookError", "WebhookRegistrationError"],
    ...[["WebhookError"], ["WebhookSecretError"], ["ReceiverConfigError"], [], [], [], []],
  ];
  expect(found).toEqual([expected, expected]);
});

test("a receiver of one format works with the adapter of the other", () => {
  const statuses = run(`
    const { sign } = await import(name + "/signature");
    const secrets = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const body = JSON.stringify({ type: "job.succeeded", data: { jobId: "job_1" } });
    const load = [(part) => import(name + part), async (part) => require(name + part)];
    const statuses = [];
    for (const [first, second] of [load, load.reverse()]) {
      const { createReceiver } = await first("/receiver");
      const { fetchHandler } = await second("/receiver/fetch");
      const handle = fetchHandler(createReceiver({ secrets, handlers: { "job.succeeded"() {} }, onRejected() {} }));
      for (const sent of [body, "{}"])
        statuses.push((await handle(new Request("http://a/", { method: "POST", headers: sign({ body, secret: secrets }), body: sent }))).status);
    }
    print(statuses);`);
  expect(statuses).toEqual([200, 401, 200, 401]);
});

test("instanceof recognizes an error of every exported class across the formats", () => {
  const unrecognized = run(`
    const unrecognized = [];
    for (const subpath of ${JSON.stringify(subpaths)}) {
      const [one, other] = [await import(name + subpath.slice(1)), require(name + subpath.slice(1))];
      for (const each of Object.keys(one).filter((each) => each.endsWith("Error")))
        if (!(Object.create(one[each].prototype) instanceof other[each])) unrecognized.push(subpath + " " + each);
    }
    print(unrecognized);`);
  expect(unrecognized).toEqual([]);
});

test("what sign of one format signs, unwrap of the other reads", () => {
  const events = run(`
    const both = [await import(name + "/signature"), require(name + "/signature")];
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const body = JSON.stringify({ type: "job.succeeded", data: { jobId: "job_1" } });
    print(both.map(({ sign }, format) => {
      const { event, jobId } = both[1 - format].unwrap(body, sign({ body, secret }), secret);
      return [event, jobId];
    }));`);
  expect(events).toEqual(Array(2).fill(["job.succeeded", "job_1"]));
});
