// The main job from beginning to end, on this machine: endpoints are declared, checked and destroyed by the real Pulumi
// CLI at an emulated service, and a receiver verifies what they are sent. Leaves nothing behind, also after Ctrl-C.

const { startEmulator } = require("../dist/emulator");
const { Narrator } = require("./demo/narrator");
const { Project } = require("./demo/project");
const { DemoReceiver } = require("./demo/receiver");

const yes = ["--yes", "--skip-preview", "--suppress-progress"];
const narrator = new Narrator();
const { say, step, fact } = {
  say: (text) => narrator.say(text),
  step: (title) => narrator.step(title),
  fact: (holds, claim) => narrator.fact(holds, claim),
};

async function tell({ emulator, project, receiver }) {
  const registered = () => emulator.endpoints();
  const show = () => {
    for (const { id, url, type } of registered()) say(`    ${id}  ${type.padEnd(11)}  ${url}`);
  };
  const find = (name) => registered().find(({ url }) => url.includes(name));
  const secretOf = (secrets) => ["config", "set", "--secret", ...secrets];
  const [secret] = emulator.secrets();

  step("The service");
  say(`An emulator of the webhook service listens at ${emulator.url}. The program is examples/quickstart.`);
  await project.pulumi(["stack", "init", "demo"], { quiet: true });
  await project.pulumi(secretOf(["signingSecret", secret]), { hide: [secret] });

  step("pulumi up: two endpoints are registered");
  await project.pulumi(["up", ...yes]);
  say("At the service:");
  show();
  fact(registered().length === 2, "both are registered, and their ids are in the stack");
  emulator.clearRequests();
  await project.pulumi(["up", ...yes], { quiet: true });
  fact(
    emulator.requests.every(({ method }) => method === "GET"),
    "a second `pulumi up` changes nothing",
  );

  step("Somebody deletes one behind Pulumi's back");
  const deleted = emulator.remove(find("sandbox").id);
  say(`Gone from the service: ${deleted.id}  ${deleted.url}`);
  const drift = await project.pulumi(["refresh", ...yes]);
  fact(/sandbox deleted/.test(drift), "`pulumi refresh` shows the drift, and only that");

  step("pulumi up: it is registered anew");
  await project.pulumi(["up", ...yes]);
  const before = find("sandbox");
  fact(before !== undefined && before.id !== deleted.id, `the sandbox is back, as ${before.id}`);

  step("Its url changes: replaced, the new one before the old one goes");
  await receiver.listen();
  await project.pulumi(["config", "set", "sandboxUrl", receiver.url]);
  emulator.clearRequests();
  await project.pulumi(["up", ...yes]);
  show();
  const order = emulator.requests.map(({ method }) => method).filter((method) => method !== "GET");
  fact(order.join() === "POST,DELETE", "registered first, deleted then: no event is missed");

  step("A receiver, built from the stack's secret output");
  const source = { stackName: "demo", workDir: project.workDir, backendUrl: project.backendUrl };
  await receiver.build(source);
  say(`It listens at ${receiver.url}. The service runs a job and tells the sandbox about it.`);
  const endpointId = find("127.0.0.1").id;
  const job = await emulator.runJob({ endpointId });
  fact(
    job.finished.delivered && receiver.handled.length === 2,
    `verified: ${receiver.handled.join(", ")} (answered ${receiver.reports.at(-1).status})`,
  );
  const handled = receiver.handled.length;
  const send = async (event) => {
    await emulator.deliver({
      type: "job.failed",
      data: { jobId: job.jobId, status: "failed" },
      endpointId,
      ...event,
    });
    return receiver.reports.at(-1);
  };
  const tampered = await send({ tamper: true });
  fact(tampered.status === 401, `tampered: refused (${tampered.what}, answered ${tampered.status})`);
  const old = await send({ ageSeconds: 600 });
  fact(old.status === 401, `replayed ten minutes later: refused (${old.what}, answered ${old.status})`);
  await emulator.replay(job.finished.id);
  const again = receiver.reports.at(-1);
  fact(
    again.what === "duplicate",
    `replayed at once: a ${again.what} (answered ${again.status}, not handled again)`,
  );
  fact(receiver.handled.length === handled, "no handler was called for any of these");

  step("The signing secret is rotated, with overlap");
  const rotation = emulator.rotateSecret();
  say(
    "The service signs with the old secret and the new one. The stack gets the new one beside the old one.",
  );
  await project.pulumi(secretOf(["nextSigningSecret", rotation.secret]), { hide: [rotation.secret] });
  await project.pulumi(["up", ...yes]);
  await receiver.build(source);
  const during = await emulator.runJob({ endpointId });
  fact(during.finished.delivered, "verified while both secrets sign");
  rotation.finish();
  await project.pulumi(secretOf(["signingSecret", rotation.secret]), { hide: [rotation.secret] });
  await project.pulumi(["config", "rm", "nextSigningSecret"]);
  await project.pulumi(["up", ...yes], { quiet: true });
  await receiver.build(source);
  const after = await emulator.runJob({ endpointId });
  fact(after.finished.delivered, "verified after the old secret has gone: no delivery was lost");

  step("pulumi destroy");
  await project.pulumi(["destroy", ...yes]);
  fact(registered().length === 0, "the service has no endpoint left");
}

async function main() {
  const started = Date.now();
  const emulator = await startEmulator();
  const receiver = new DemoReceiver();
  const project = new Project({
    environment: { WEBHOOKS_BASE_URL: emulator.url, WEBHOOKS_API_KEY: emulator.apiKey },
    quote: (line) => narrator.quote(line),
  });
  // For the receiver, which runs the CLI itself.
  Object.assign(process.env, project.environment);

  let signalled = 0;
  const stopped = new Promise((_, reject) => {
    for (const [signal, number] of Object.entries({ SIGHUP: 1, SIGINT: 2, SIGTERM: 15 })) {
      process.on(signal, () => {
        if (signalled === 0) console.log("\nStopping: what runs is ended, and nothing is left behind.");
        signalled = 128 + number;
        project.stop().then(() => reject(new Error("stopped")));
      });
    }
  });
  try {
    await Promise.race([tell({ emulator, project, receiver }), stopped]);
    say(`\nDone in ${Math.round((Date.now() - started) / 1000)} s. Nothing is left running or lying about.`);
  } catch (error) {
    if (signalled === 0) console.error(`\ndemo: ${error.message}`);
    process.exitCode = signalled || 1;
  } finally {
    await receiver.close().catch(() => {});
    await emulator.close();
    project.remove();
  }
  // A command that was stopped half-way may have left something waiting.
  process.exit();
}

main();
