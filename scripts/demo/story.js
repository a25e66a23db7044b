/** What makes `pulumi up`, `refresh` and `destroy` run without a question and print only the result. */
const UPDATE_FLAGS = ["--yes", "--skip-preview", "--suppress-progress"];

/** Plays the whole story, and checks every claim that it makes. Throws if one is false. */
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

  say("This demo takes about a minute. It runs the real Pulumi CLI against an emulated webhook service.");
  say("Each ✓ is a claim that the demo has just checked.");

  step("A service and a program");
  say(`An emulated webhook service listens at ${emulator.url}. The program is examples/quickstart.`);
  say(
    "It finds the service through WEBHOOKS_BASE_URL and WEBHOOKS_API_KEY. The signing secret goes into the stack:",
  );
  await project.pulumi(["stack", "init", "demo"]);
  await project.pulumi(secretOf(["signingSecret", secret]), { hide: [secret] });

  step("pulumi up registers two endpoints");
  await project.pulumi(["up", ...UPDATE_FLAGS]);
  say("The service now has:");
  show();
  fact(registered().length === 2, "both endpoints are registered, and the stack knows their ids");
  emulator.clearRequests();
  await project.pulumi(["up", ...UPDATE_FLAGS], { quiet: true });
  fact(
    emulator.requests.every(({ method }) => method === "GET"),
    "a second `pulumi up` changes nothing",
  );

  step("Somebody deletes one outside Pulumi");
  const deleted = emulator.remove(find("sandbox").id);
  say(`Deleted at the service: ${deleted.id}  ${deleted.url}`);
  say("A refresh compares the stack with the service:");
  const drift = await project.pulumi(["refresh", ...UPDATE_FLAGS]);
  fact(/sandbox deleted/.test(drift), "`pulumi refresh` found the missing endpoint");

  step("pulumi up registers it again");
  await project.pulumi(["up", ...UPDATE_FLAGS]);
  const before = find("sandbox");
  fact(before !== undefined && before.id !== deleted.id, `the sandbox is back, with the id ${before.id}`);

  step("A new url replaces the endpoint");
  say("The sandbox moves to a receiver that the demo starts on this machine.");
  await receiver.listen();
  await project.pulumi(["config", "set", "sandboxUrl", receiver.url]);
  emulator.clearRequests();
  await project.pulumi(["up", ...UPDATE_FLAGS]);
  say("The service now has:");
  show();
  say("It got these requests:");
  const changes = emulator.requests.filter(({ method }) => method !== "GET");
  for (const { method, path, status } of changes) say(`    ${method.padEnd(6)}  ${path}  (${status})`);
  fact(
    changes.map(({ method }) => method).join() === "POST,DELETE",
    "the new endpoint was registered before the old one was deleted: no event is missed",
  );

  step("A receiver verifies deliveries");
  const source = { stackName: "demo", workDir: project.workDir };
  await receiver.build(source);
  say(`It is built from the stack's secret output, and listens at ${receiver.url}.`);
  say("The service runs a job and delivers its events to the sandbox:");
  const endpointId = find("127.0.0.1").id;
  const job = await emulator.runJob({ endpointId });
  fact(
    job.finished.delivered && receiver.handled.length === 2,
    `verified and handled: ${receiver.handled.join(", ")} (answered ${receiver.reports.at(-1).status})`,
  );
  say("Now three deliveries that a handler must not see:");
  const handled = receiver.handled.length;
  const send = async (event) => {
    await emulator.deliver({
      event: "job.failed",
      data: { jobId: job.jobId, status: "failed" },
      endpointId,
      ...event,
    });
    return receiver.reports.at(-1);
  };
  const tampered = await send({ tamper: true });
  fact(tampered.status === 401, `a tampered one is refused (${tampered.what}, answered ${tampered.status})`);
  const old = await send({ ageSeconds: 600 });
  fact(old.status === 401, `one that is ten minutes old is refused (${old.what}, answered ${old.status})`);
  await emulator.replay(job.finished.id);
  const again = receiver.reports.at(-1);
  fact(
    again.what === "duplicate",
    `a copy of a handled one is acknowledged and dropped (${again.what}, answered ${again.status})`,
  );
  fact(receiver.handled.length === handled, "no handler was called for any of the three");

  step("The signing secret is rotated without a lost delivery");
  const rotation = emulator.rotateSecret();
  say("The service signs with the old secret and with a new one.");
  const early = await emulator.runJob({ endpointId });
  fact(early.finished.delivered, "the receiver, which knows only the old secret, verifies the delivery");
  say("The stack gets the new secret too, and the receiver is built again:");
  await project.pulumi(secretOf(["nextSigningSecret", rotation.secret]), { hide: [rotation.secret] });
  await project.pulumi(["up", ...UPDATE_FLAGS]);
  await receiver.build(source);
  const during = await emulator.runJob({ endpointId });
  fact(during.finished.delivered, "the receiver, which knows both secrets, verifies the delivery");
  say("The service stops using the old secret, and so does the stack:");
  rotation.finish();
  await project.pulumi(secretOf(["signingSecret", rotation.secret]), { hide: [rotation.secret] });
  await project.pulumi(["config", "rm", "nextSigningSecret"]);
  await project.pulumi(["up", ...UPDATE_FLAGS]);
  await receiver.build(source);
  const after = await emulator.runJob({ endpointId });
  fact(
    after.finished.delivered,
    "the receiver, which knows only the new secret, verifies the delivery: none was lost",
  );

  step("pulumi destroy deletes everything");
  await project.pulumi(["destroy", ...UPDATE_FLAGS]);
  fact(registered().length === 0, "the service has no endpoints left");
}

module.exports = { tellStory };
