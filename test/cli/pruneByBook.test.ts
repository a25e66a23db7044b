import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Endpoint } from "../../src/client";
import { Book } from "../../src/settlement/book";
import type { Deployment } from "../../src/settlement/deployment";
import type { Entry } from "../../src/settlement/entry";
import { EMPTY } from "./fakeProject";
import { added, emulator, run } from "./pruning";

/** Where this machine's runs keep their book. */
let environment: { readonly PULUMI_HOME: string };
let folder: string;
let book: Book;
beforeEach(() => {
  environment = { PULUMI_HOME: mkdtempSync(join(tmpdir(), "prune-")) };
  folder = join(environment.PULUMI_HOME, "webhook-endpoints", "book");
  book = new Book(environment, (message) => {
    throw new Error(message);
  });
});
afterEach(() => rmSync(environment.PULUMI_HOME, { recursive: true, force: true }));

/** Writes what a run of a stack, by default in another backend, has begun. */
function begin(endpoint: Endpoint, sent: Entry["sent"] = null, backend = "file:///elsewhere"): Entry {
  const urn = "urn:pulumi:prod::other::pulumi:pulumi:Stack::other-prod";
  return book.begin(
    {
      ...{ stack: { urn, backend }, service: "s", fingerprint: "f", provider: "p" },
      ...{ ip: "i", run: "1", sender: "1", id: null, createdAt: null, adopted: false, closed: false, sent },
    },
    endpoint,
  );
}

it("prune keeps an endpoint while a run on this machine registers or adopts its url and type, and what one took since", async () => {
  const [under, taken, free] = [added("under-way"), added("taken"), added("free")];
  begin(under);
  let exports = 0;
  const before = (command: string) => {
    if (command !== "stack export" || ++exports !== 2) return;
    book.change(begin(taken), { id: taken.id, adopted: true, closed: true });
  };
  const { deleted, stderr } = await run({ stacks: { dev: {} }, before }, { environment });
  expect(deleted).toEqual([free.id]);
  for (const { id } of [under, taken])
    expect(stderr).toContain(`${id} is kept: this machine is registering, adopting or using its url`);
});

it("prune keeps the endpoint of a `listen --register` while that runs", async () => {
  const endpoint = added("a");
  const { id } = endpoint;
  const nobody = { urn: "", backend: "" };
  const origin = { service: "s", fingerprint: "f", provider: "p" };
  const claim = { stack: nobody, ...origin, ip: "i", run: "command", sender: "command", id, closed: true };
  const entry = book.begin(claim, endpoint);
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }))
    utimesSync(join(folder, name), 1, 1);
  const { deleted, stderr } = await run({ stacks: { dev: {} } }, { environment });
  expect([deleted, stderr]).toEqual([[], expect.stringContaining("or using its url")]);
  book.change(entry, { process: { ...entry.process, start: "another process" } });
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }))
    utimesSync(join(folder, name), 1, 1);
  expect((await run({ stacks: { dev: {} } }, { environment })).deleted).toEqual([id]);
});

it("prune keeps what a killed run of a stack that it cannot see has sent, as this machine's book tells", async () => {
  const endpoint = added("a");
  const at = Date.parse(endpoint.createdAt ?? "");
  const entry = begin(endpoint, { at, serviceTime: at, before: [], complete: true });
  const { deleted, stderr } = await run({ stacks: { dev: {} } }, { environment });
  expect(deleted).toEqual([]);
  expect(stderr).toMatch(/an interrupted run of other\/prod may have registered it/);
  book.close(entry);
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }))
    utimesSync(join(folder, name), 1, 1);
  expect((await run({ stacks: { dev: {} } }, { environment })).deleted).toEqual([endpoint.id]);
});

it("prune deletes what a killed run of a stack has sent that the backend no longer has", async () => {
  const endpoint = added("a");
  const at = Date.parse(endpoint.createdAt ?? "");
  const backend = "file:///backend";
  const entry = begin(endpoint, { at, serviceTime: at, before: [], complete: true }, backend);
  const options = { environment: { ...environment, PULUMI_BACKEND_URL: backend } };
  const others = { "organization/other/prod": EMPTY };
  // The run is under way, the stack is there, and not all stacks can be read.
  expect((await run({ stacks: { dev: {} } }, options)).deleted).toEqual([]);
  book.change(entry, { process: { ...entry.process, start: "another process" } });
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }))
    utimesSync(join(folder, name), 1, 1);
  expect((await run({ stacks: { dev: {} }, others }, options)).kept).toEqual({
    [endpoint.id]: "pending-registration",
  });
  const broken = { stacks: { dev: {} }, others: { "organization/more/dev": "broken" } };
  expect((await run(broken, options)).deleted).toEqual([]);
  expect((await run({ stacks: { dev: {} } }, options)).deleted).toEqual([endpoint.id]);
});

it("prune deletes what a killed run of an earlier stack of this name has sent", async () => {
  const endpoint = added("a");
  const at = Date.parse(endpoint.createdAt ?? "");
  const backend = "file:///backend";
  const entry = begin(endpoint, { at, serviceTime: at, before: [], complete: true }, backend);
  const process = { ...entry.process, start: "another process" };
  book.change(entry, { process, stackBegan: at - 1_000 });
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }))
    utimesSync(join(folder, name), 1, 1);
  const options = { environment: { ...environment, PULUMI_BACKEND_URL: backend }, yes: false };
  const keptWith = async (stack: Deployment) =>
    (await run({ stacks: { dev: {} }, others: { "organization/other/prod": stack } }, options)).kept;
  const root = (created: number) => ({
    urn: entry.stack.urn,
    type: "pulumi:pulumi:Stack",
    created: new Date(created).toISOString(),
  });
  expect(await keptWith({ resources: [root(at - 1_000)] })).toEqual({
    [endpoint.id]: "pending-registration",
  });
  // It was made again since: no run has written it yet, or one has.
  for (const stack of [EMPTY, { resources: [root(at + 1_000)] }])
    expect(await keptWith(stack)).toEqual({ [endpoint.id]: "not-confirmed" });
});

it("prune deletes nothing while this machine's book cannot be read", async () => {
  added("a");
  mkdirSync(join(folder, ".."));
  writeFileSync(folder, "not a folder");
  const { failure } = await run({ stacks: { dev: {} } }, { environment });
  expect(failure).toMatchObject({ code: "OWNERSHIP_UNKNOWN", message: expect.stringContaining("ENOTDIR") });
  expect(emulator.endpoints()).toHaveLength(1);
});
