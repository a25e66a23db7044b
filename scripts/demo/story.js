const yes = ["--yes", "--skip-preview", "--suppress-progress"];

/**
 * The main job from beginning to end. Each thing it claims is checked, and a claim that does not hold throws.
 */
async function tellStory({ emulator, project, receiver, narrator }) {
  const say = (text) => narrator.say(text);
  const step = (title) => narrator.step(title);
  const fact = (holds, claim) => narrator.fact(holds, claim);
  const registered = () => emulator.endpoints();
  const show = () => {
    for (const { id, url, type } of registered()) say(`    ${id}  ${type.padEnd(11)}  ${url}`);
  };
  const find = (name) => registered().find(({ url }) => url.includes(name));
  const secretOf = (secrets) => ["config", "set", "--secret", ...secrets];
  const [secret] = emulator.secrets();

  step("The service");
  say(`An emulator of the webhook service listens at ${emulator.url}. The program is examples/quickstart.`);
  say("It has the emulator's address and key from the environment: WEBHOOKS_BASE_URL and WEBHOOKS_API_KEY.");
  await project.pulumi(["stack", "init", "demo"]);
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
  say("What the service was sent:");
  const changes = emulator.requests.filter(({ method }) => method !== "GET");
  for (const { method, path, statusCode } of changes)
    say(`    ${method.padEnd(6)}  ${path}  (${statusCode})`);
  fact(
    changes.map(({ method }) => method).join() === "POST,DELETE",
    "registered first, deleted then: no event is missed",
  );

  step("A receiver, built from the stack's secret output");
  const source = { stackName: "demo", workDir: project.workDir };
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
  say("The service signs with the old secret and the new one.");
  const early = await emulator.runJob({ endpointId });
  fact(early.finished.delivered, "verified by the receiver that knows only the old one");
  say("The stack gets the new one beside the old one, and the receiver is built anew.");
  await project.pulumi(secretOf(["nextSigningSecret", rotation.secret]), { hide: [rotation.secret] });
  await project.pulumi(["up", ...yes]);
  await receiver.build(source);
  const during = await emulator.runJob({ endpointId });
  fact(during.finished.delivered, "verified while both secrets sign, and both are known");
  rotation.finish();
  await project.pulumi(secretOf(["signingSecret", rotation.secret]), { hide: [rotation.secret] });
  await project.pulumi(["config", "rm", "nextSigningSecret"]);
  await project.pulumi(["up", ...yes]);
  await receiver.build(source);
  const after = await emulator.runJob({ endpointId });
  fact(after.finished.delivered, "verified after the old secret has gone: no delivery was lost");

  step("pulumi destroy");
  await project.pulumi(["destroy", ...yes]);
  fact(registered().length === 0, "the service has no endpoint left");
}

module.exports = { tellStory };
