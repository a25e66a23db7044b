import { mkdirSync } from "node:fs";
import type { PendingError } from "../../src/endpoint/errors";
import type { EndpointInputs, EndpointState } from "../../src/endpoint/types";
import { TYPE_TOKEN } from "../../src/shared/permanent";
import { sameUrl } from "../../src/shared/url";
import { codeOf, inputs, otherInputs, type PluginOptions, stateOf, VerbsWorld } from "./verbsWorld";

/** What outsiders found about answers that name an endpoint which is not ours, and about what a pending registration hides. */
let world: VerbsWorld;
beforeEach(async () => {
  world = await VerbsWorld.start();
});
afterEach(() => world.close());

const ALWAYS = Number.POSITIVE_INFINITY;
const PARTIAL = JSON.stringify({ data: [], has_more: true });
const otherStack: PluginOptions = { environment: { PULUMI_BACKEND_URL: "file:///other" } };

function record(id: string, state: EndpointState, args = inputs): void {
  world.record("jobs", id, { inputs: { ...args }, outputs: { ...state } });
  world.ended("succeeded");
  world.clock.skip(60_000);
}

function machine(name: string): PluginOptions {
  const PULUMI_HOME = `${world.folder}/${name}`;
  mkdirSync(PULUMI_HOME);
  return { environment: { PULUMI_HOME } };
}

/** Registers in a run that ends without knowing whether the service made an endpoint. */
async function pend(isMade: boolean, args = inputs, options: PluginOptions = {}): Promise<PendingError> {
  const pending = await world.leavePending(isMade ? "reset-after" : "hang-before", options, args);
  record(pending.id, pending.properties, args);
  world.ended("failed");
  world.clock.skip(60_000);
  world.warnings.length = 0;
  return pending;
}

/** Starts an `up` that replaces a pending resource. */
async function replacing({ id, properties }: PendingError, args: EndpointInputs, options?: PluginOptions) {
  const up = world.plugin(options);
  await up.check({ ...inputs }, { ...args });
  await up.diff(id, properties, args);
  return up;
}

const lists = (body: string) =>
  world.service.fault({ operation: "list", kind: "status", status: 200, body, times: ALWAYS });
const answers = (body: object) =>
  world.service.fault({ operation: "register", kind: "status", status: 200, body: JSON.stringify(body) });

describe("an id that the service has used again for somebody's endpoint", () => {
  const theirUrl = "https://somebody.example.com/x";

  async function usedAgain(): Promise<{ id: string; state: EndpointState }> {
    await world.close();
    world = await VerbsWorld.start({ newId: () => "1" });
    const made = await world.register();
    record(made.id, stateOf(made));
    world.clock.skip(86_400_000);
    world.service.remove(made.id);
    world.service.add({ url: theirUrl, type: "production" });
    return { id: made.id, state: stateOf(made) };
  }

  test("is no drift: a refresh drops the resource", async () => {
    const { id, state } = await usedAgain();
    expect(await world.plugin({ rootUrn: undefined }).read(id, state)).toEqual({});
  });

  test.each([
    ["fails", { status: 500, body: "" }],
    ["is partial", { status: 200, body: PARTIAL }],
  ])("is not deleted if the list %s", async (_, fault) => {
    const { id, state } = await usedAgain();
    world.service.fault({ operation: "list", kind: "status", ...fault, times: ALWAYS });
    await world.plugin({ rootUrn: undefined }).delete(id, state);
    expect(world.service.endpoints().map(({ url }) => url)).toEqual([theirUrl]);
    expect(world.warnings.join()).toContain("used this id again");
  });
});

describe("a service that keeps one endpoint for each url", () => {
  test("answers with another stack's endpoint, which its list lacks and the book has", async () => {
    const up = world.plugin();
    await up.check({}, { ...otherInputs });
    lists("[]");
    const theirs = await world.register(otherStack);
    world.clock.skip(3_000);
    answers({ id: theirs.id, ...inputs });
    expect(await codeOf(up.create(inputs))).toBe("ENDPOINT_EXISTS");
  });

  test("answers with an endpoint of an hour ago, which a complete list lacks", async () => {
    const theirs = world.service.add({ ...inputs, createdAt: world.clock.text(-3_600_000) });
    lists("[]");
    answers(theirs);
    expect(await codeOf(world.register())).toBe("ENDPOINT_EXISTS");
  });

  test("or for each account, gives the url to an endpoint that was listed with another one", async () => {
    const theirs = world.service.add({ ...otherInputs, createdAt: world.clock.text(-3_600_000) });
    answers({ ...theirs, url: inputs.url });
    expect(await codeOf(world.register())).toBe("ENDPOINT_EXISTS");
  });

  test("answers with the endpoint that another resource of this run keeps", async () => {
    const made = await world.register();
    record(made.id, stateOf(made));
    const up = world.plugin();
    await up.diff(made.id, stateOf(made), inputs);
    answers({ id: made.id, ...inputs });
    expect(await codeOf(up.create(inputs))).toBe("ENDPOINT_EXISTS");
  });
});

test("another stack's endpoint is not taken, though the list shows its time in whole minutes", async () => {
  await world.loseInVain({}, { thenMs: 0 });
  answers({ id: "wh_theirs", ...inputs, createdAt: "2026-01-01T00:00:02.500Z" });
  await world.register(otherStack);
  world.clock.skip(60_000);
  lists(JSON.stringify([{ id: "wh_theirs", ...inputs, createdAt: "2026-01-01T00:00:00Z" }]));
  expect((await world.register()).id).not.toBe("wh_theirs");
});

describe("with a pending registration, ifExists: fail", () => {
  const failing = { ...inputs, ifExists: "fail" } as const;

  test("refuses what was there before it was sent", async () => {
    world.service.add({ ...inputs, createdAt: world.clock.text(-86_400_000) });
    const pending = await pend(false);
    const up = await replacing(pending, failing);
    expect(await codeOf(up.create(failing))).toBe("ENDPOINT_EXISTS");
    expect(world.ids()).toHaveLength(1);
  });

  test.each([
    ["ip", { ...failing, ip: "203.0.113.7" }],
    ["spelling", { ...failing, url: inputs.url.replace("hooks.", "HOOKS.") }],
  ])("does not refuse what it made itself, after a change of %s", async (_, changed) => {
    const pending = await pend(true, failing);
    const up = await replacing(pending, changed);
    const { id } = await up.create(changed);
    await up.delete(pending.id, pending.properties);
    expect(world.ids()).toEqual([id]);
  });

  test("refuses an entry of the list whose type cannot be read", async () => {
    lists(JSON.stringify([{ id: "wh_x", url: inputs.url, type: "PRODUCTION" }]));
    expect(await codeOf(world.register({}, failing))).toBe("ENDPOINT_EXISTS");
  });
});

describe("a pending resource settles only its own registration", () => {
  test("a refresh leaves what an equal resource of the stack that sent it has lost", async () => {
    const pending = await pend(false);
    const lost = await world.register();
    world.clock.skip(60_000);
    world.resources = [];
    world.save();
    const read = await world.plugin({ rootUrn: undefined }).read(pending.id, pending.properties);
    expect(read.id).not.toBe(lost.id);
  });

  test("destroy deletes no endpoint that an equal resource got, which was moved to another stack", async () => {
    const pending = await pend(true);
    const moved = await world.register();
    world.clock.skip(60_000);
    await world.plugin({ rootUrn: undefined }).delete(pending.id, pending.properties);
    expect(world.ids()).toEqual([moved.id]);
  });
});

test("what a run made that was killed while it settled a pending registration is taken over on another machine", async () => {
  const pending = await pend(false, inputs, machine("first"));
  world.service.fault({ operation: "register", kind: "reset-after" });
  const killed = await replacing(pending, inputs, machine("second"));
  const { id } = await killed.create(inputs);
  world.interrupt("jobs", inputs);
  world.clock.skip(60_000);
  const up = await replacing(pending, inputs, machine("third"));
  expect((await up.create(inputs)).id).toBe(id);
});

test("--replace of a child with a secret url is not refused because another parent's child has the same name", async () => {
  for (const [parent, args] of [
    ["a:A", inputs],
    ["b:B", otherInputs],
  ] as const) {
    const made = await world.register({}, args);
    const url = {
      "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
      ciphertext: parent,
    };
    world.record("hook", made.id, {
      urn: `urn:pulumi:dev::test::${parent}$${TYPE_TOKEN}::hook`,
      inputs: { ...args, url },
      outputs: { ...stateOf(made), url },
    });
    world.ended("succeeded");
    world.clock.skip(60_000);
  }
  const declared = { ...inputs, ifExists: "fail", __resourceName: "hook" } as const;
  expect((await world.plugin().check({}, { ...declared })).failures).toEqual([]);
});

test.each(["|", "^", "[", "]", "`", "{", "}"])(
  "a url with %s is the same as with it percent-encoded",
  (raw) => {
    const encoded = `%${raw.charCodeAt(0).toString(16)}`;
    for (const start of ["https://h.example.com/a", "https://[2001:db8::1]/a?x="])
      expect(sameUrl(start + raw, start + encoded)).toBe(true);
  },
);
