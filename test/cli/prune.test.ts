import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { prune } from "../../src/cli/prune";
import type { Deployment, Resource } from "../../src/settlement/deployment";
import { AnotherService, anotherKey } from "../engine/anotherService";
import { FakeProject, type FakeProjectOptions, KeptOutput, recorded } from "./fakeProject";
import { added, deletions, emulator, ids, replaceEmulator, run } from "./pruning";

it("prune deletes only unmanaged development endpoints that are older, and says why it keeps each other one", async () => {
  const [old, young, managed, read] = [
    added("old"),
    added("young", { days: 6.99 }),
    added("managed"),
    added("read"),
  ];
  const production = added("production", { type: "production" });
  const stacks = {
    dev: { resources: [recorded("managed", managed)] },
    prod: { resources: [recorded("read", { ...read, more: { external: true } })] },
  };
  const { deleted, kept, failure } = await run({ stacks });
  expect({ deleted, failure }).toEqual({ deleted: [old.id], failure: undefined });
  expect(kept).toEqual({ [young.id]: "younger", [read.id]: "read-by-stack", [production.id]: "other-type" });
  expect(ids()).not.toContain(old.id);
  const second = await run({ stacks }, { type: "production" });
  expect(second.deleted).toEqual([production.id]);
});

it("prune keeps what a stack of another project in the backend manages, and deletes nothing if that stack cannot be read", async () => {
  const managed = added("managed");
  const stacks = { dev: {} };
  const name = "organization/other/dev";
  const known = await run({ stacks, others: { [name]: { resources: [recorded("managed", managed)] } } });
  expect(known).toMatchObject({ deleted: [], failure: undefined });
  const unknown = await run({ stacks, others: { [name]: "access denied" } });
  expect(unknown.failure).toMatchObject({ code: "OWNERSHIP_UNKNOWN" });
  expect(deletions()).toEqual([]);
});

it("prune reads the owners again for what is left when it has relied on them for a while", async () => {
  const [first, ...others] = ["0", "1", "2", "3", "4", "5", "6", "7"].map((path) => added(path));
  const adopted = added("adopted");
  const stacks: Record<string, Deployment> = { dev: {} };
  // The run adopts as soon as the first endpoint is gone, and the deletions of the first eight take a while.
  const before = () => {
    if (!ids().includes(first?.id ?? "")) stacks.dev = { resources: [recorded("adopted", adopted)] };
  };
  emulator.fault({ operation: "delete", kind: "delay", delayMs: 1_200, times: 8 });
  const { deleted } = await run({ stacks, before });
  expect(deleted.sort()).toEqual([first, ...others].map((each) => each?.id).sort());
  expect(ids()).toEqual([adopted.id]);
});

it("prune deletes eight endpoints at a time", async () => {
  for (let number = 0; number < 20; number += 1) added(String(number));
  let [most, now] = [0, 0];
  const service = createServer((request, response) => {
    const isDeletion = request.method === "DELETE";
    if (isDeletion) most = Math.max(most, ++now);
    const forwarded = fetch(`${emulator.url}${request.url}`, {
      method: request.method ?? "",
      headers: { "X-Api-Key": emulator.apiKey },
    });
    void forwarded.then(async (answer) => {
      const body = await answer.text();
      // A deletion waits until eight are under way.
      while (isDeletion && most < 8) await new Promise((resolve) => setTimeout(resolve, 1));
      if (isDeletion) now -= 1;
      const date = answer.headers.get("date");
      response.writeHead(answer.status, date === null ? {} : { date }).end(body);
    });
  });
  service.on("connection", (socket) => socket.unref());
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  const { port } = service.address() as AddressInfo;
  const config = { "webhooks:baseUrl": `http://127.0.0.1:${port}`, "webhooks:apiKey": emulator.apiKey };
  const { deleted } = await run({ stacks: { dev: {} } }, { config });
  service.closeAllConnections();
  service.close();
  expect([deleted.length, most]).toEqual([20, 8]);
});

it("prune says which backend it read, without its credentials, and how many stacks", async () => {
  added("a");
  const { stderr, printed } = await run({ stacks: { dev: {}, prod: {} }, others: { "o/other/dev": {} } });
  expect(stderr).toMatch(/^Read 3 stacks in https:\/\/backend\.example\.com\/\.$/m);
  expect(printed).toMatchObject({ backend: "https://backend.example.com/", stacks: 3 });
});

it("prune goes on after an endpoint that the service refuses to delete, and fails in the end", async () => {
  const [refused, other] = [added("refused"), added("other")];
  emulator.fault({ operation: "delete", kind: "status", status: 409, times: 1 });
  const { deleted, kept, stderr, failure } = await run({ stacks: { dev: {} } });
  expect({ deleted, kept }).toEqual({ deleted: [other.id], kept: { [refused.id]: "not-deleted" } });
  expect(stderr).toContain(`${refused.id} was not deleted`);
  expect(failure).toMatchObject({ code: "REJECTED" });
});

it("prune shows only the host of a url that an interrupted run may have registered", async () => {
  added("t0ken");
  const { id: _, ...resource } = recorded("killed", added("other"));
  const secret = { ...resource, inputs: { url: { ciphertext: "v1:x" }, type: "development" } };
  const output = new KeptOutput(true);
  const pulumi = new FakeProject({
    config: { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey },
    stacks: { dev: { pending_operations: [{ type: "creating", resource: secret }] } },
  });
  await prune({
    ...{ pulumi, output, type: "development", yes: true, alsoStacks: [], environment: {}, olderThanMs: 0 },
  });
  expect(output.kept.stdout + output.kept.stderr).not.toContain("t0ken");
});

it("prune counts ages by the service's clock, and keeps what the service dates in the future", async () => {
  const future = added("", { days: -30 });
  expect((await run({ stacks: { dev: {} } }, { olderThanMs: 0 })).kept).toEqual({ [future.id]: "younger" });
});

it("prune keeps what an interrupted run may have registered or was to adopt, also if the state encrypts its url", async () => {
  const [interrupted, pending, wanted, before] = ["interrupted", "pending", "wanted", "pending"].map((path) =>
    added(path),
  );
  if (!interrupted || !pending || !wanted || !before) throw new Error("unreachable");
  const { id: _, ...resource } = recorded("interrupted", interrupted);
  const unanswered: Resource = {
    ...recorded("pending", { ...pending, id: "pending:1" }),
    outputs: { pending: { before: [before.id], attemptedAt: null, complete: true } },
  };
  const adopting: Resource = {
    ...resource,
    inputs: { url: "https://b/", type: "development", adoptId: wanted.id.toUpperCase() },
  };
  const stacks = {
    dev: {
      resources: [unanswered],
      pending_operations: [
        { type: "creating", resource },
        { type: "creating", resource: adopting },
      ],
    },
  };
  const { deleted, kept, stderr } = await run({ stacks });
  expect(deleted).toEqual([before.id]);
  expect(Object.values(kept)).toEqual(Array(3).fill("pending-registration"));
  expect(stderr).toMatch(/an interrupted run of test\/dev may have registered it.*recover/);

  const secret = { ...resource, inputs: { url: { ciphertext: "v1:x" }, type: "development" } };
  const other = added("other");
  const hidden = await run({
    stacks: { dev: { pending_operations: [{ type: "creating", resource: secret }] } },
  });
  expect(hidden.deleted).toEqual([]);
  expect(hidden.kept[other.id]).toBe("pending-registration");
  const hiddenId = { ...resource, inputs: { ...resource.inputs, adoptId: { ciphertext: "v1:x" } } };
  const encrypted = await run({
    stacks: { dev: { pending_operations: [{ type: "creating", resource: hiddenId }] } },
  });
  expect(encrypted.kept[interrupted.id]).toBe("pending-registration");
});

it("prune deletes what was there long before a pending registration was sent", async () => {
  const [old, made] = [added("a", { days: 20 }), added("a", { days: 10 })];
  const attemptedAt = Date.parse(made.createdAt ?? "");
  const resource: Resource = {
    ...recorded("a", { ...made, id: "pending:1" }),
    outputs: { pending: { before: [], attemptedAt, complete: false } },
  };
  const { deleted, kept } = await run({ stacks: { dev: { resources: [resource] } } });
  expect({ deleted, kept }).toEqual({ deleted: [old.id], kept: { [made.id]: "pending-registration" } });
});

it("prune keeps an endpoint whose id is recorded with another key or base URL, even if it looks different", async () => {
  const endpoint = added("a");
  const looks = { ...endpoint, url: "https://b.example.com/" };
  const other = (baseUrl: string) => ({ dev: { resources: [recorded("b", { ...looks, baseUrl })] } });
  expect((await run({ stacks: other(emulator.url) })).kept).toEqual({
    [endpoint.id]: "may-be-held",
  });
  // Two host names can be one service.
  const elsewhere = await run({ stacks: other("https://other.example.com") });
  expect(elsewhere.kept).toEqual({ [endpoint.id]: "may-be-held" });
  expect(elsewhere.stderr).toMatch(/is kept: b in test\/dev may be its resource/);
});

it("prune keeps an endpoint whose id any resource of any project has, also one of another package", async () => {
  const endpoint = added("a");
  const urn = "urn:pulumi:dev::other::pulumi-nodejs:dynamic:Resource::hook";
  const resource = { urn, type: "pulumi-nodejs:dynamic:Resource", id: endpoint.id };
  const others = { "organization/other/dev": { resources: [resource] } };
  expect((await run({ stacks: { dev: {} }, others })).kept).toEqual({ [endpoint.id]: "may-be-held" });
  expect(deletions()).toEqual([]);
});

it("prune keeps an endpoint whose id the state has in another case, as services may spell a GUID", async () => {
  const endpoint = added("managed");
  const managed = { ...endpoint, id: endpoint.id.toUpperCase() };
  const { kept } = await run({ stacks: { dev: { resources: [recorded("managed", managed)] } } });
  expect(kept).toEqual({ [endpoint.id]: "may-be-held" });
  expect(deletions()).toEqual([]);
});

it("prune keeps what an interrupted `pulumi import` was to take over", async () => {
  const endpoint = added("imported");
  const { id: _, ...resource } = recorded("imported", endpoint);
  const importing = { type: "importing", resource: { ...resource, importID: endpoint.id } };
  const { kept } = await run({ stacks: { dev: { pending_operations: [importing] } } });
  expect(kept).toEqual({ [endpoint.id]: "pending-registration" });
});

it("prune keeps an endpoint whose deletion was interrupted, because the stack still manages it", async () => {
  const endpoint = added("a");
  const operation = { type: "deleting", resource: recorded("a", endpoint) };
  expect((await run({ stacks: { dev: { pending_operations: [operation] } } })).deleted).toEqual([]);
});

it.each<[string, Partial<FakeProjectOptions>, string]>([
  ["one stack cannot be read", { stacks: { dev: {}, prod: "access denied" } }, "OWNERSHIP_UNKNOWN"],
  ["the project has no stack in the backend", { stacks: {} }, "OWNERSHIP_UNKNOWN"],
  ["the folder has no project", { failure: "error: no Pulumi.yaml project file found" }, "OWNERSHIP_UNKNOWN"],
])("prune deletes nothing when %s", async (_when, options, code) => {
  added("a");
  const environment = { WEBHOOKS_BASE_URL: emulator.url, WEBHOOKS_API_KEY: emulator.apiKey };
  for (const alsoStacks of [[], ["organization/other/dev"]]) {
    const others = { "organization/other/dev": {} };
    const { failure } = await run({ others, ...options }, { environment, alsoStacks });
    expect(failure).toMatchObject({ code });
  }
  expect(deletions()).toEqual([]);
});

it("prune deletes nothing when the list is partial", async () => {
  await replaceEmulator({ pageSize: 1 });
  added("a");
  added("b");
  expect((await run({ stacks: { dev: {} } })).failure).toMatchObject({ code: "LIST_PARTIAL" });
  expect(deletions()).toEqual([]);
});

it("prune deletes nothing of unknown age", async () => {
  const service = new AnotherService();
  const baseUrl = await service.listen();
  try {
    await fetch(`${baseUrl}webhooks`, {
      method: "POST",
      headers: { Authorization: `Bearer ${anotherKey}` },
      body: JSON.stringify({ url: "https://a.example.com/", type: "development" }),
    });
    service.changes.length = 0;
    const settings = { baseUrl, apiKey: anotherKey, apiKeyHeader: "Authorization", apiKeyScheme: "Bearer" };
    const config = Object.fromEntries(
      Object.entries(settings).map(([key, value]) => [`webhooks:${key}`, value]),
    );
    const { kept, stderr } = await run({ stacks: { dev: {} } }, { config, olderThanMs: 0 });
    expect(Object.values(kept)).toEqual(["unknown-age"]);
    expect(stderr).toMatch(/1 endpoint of unknown age is kept/);
    expect(service.changes).toEqual([]);
  } finally {
    await service.close();
  }
});

it.each([
  ["y", true],
  ["YES", true],
  ["", false],
  ["no", false],
  ["yesterday", false],
])("prune asks in a terminal, and the answer %j means %s", async (answer, isDeleted) => {
  const { id } = added("a");
  const { questions, deleted, kept, stderr } = await run({ stacks: { dev: {} } }, { answer });
  expect(questions).toEqual(["Delete this 1 development endpoint? [y/N] "]);
  // Nobody agrees to what was not shown.
  expect(stderr).toContain("https://a.example.com/a");
  expect(deleted).toEqual(isDeleted ? [id] : []);
  if (!isDeleted) expect(kept).toEqual({ [id]: "not-confirmed" });
});

it("prune only shows without a terminal and without --yes", async () => {
  const { id } = added("a");
  const { kept, stderr, failure } = await run({ stacks: { dev: {} } }, { yes: false });
  expect({ kept, failure }).toEqual({ kept: { [id]: "not-confirmed" }, failure: undefined });
  expect(stderr).toMatch(/Nothing was deleted.*--yes/);
  expect(deletions()).toEqual([]);
});

it("prune keeps what a run took over, or what was changed, while a person decided", async () => {
  const [taken, edited, gone] = [added("taken"), added("edited"), added("gone")];
  const state: { resources: Resource[] } = { resources: [] };
  let exports = 0;
  const before = (command: string) => {
    if (command !== "stack export") return;
    exports += 1;
    if (exports === 2) state.resources.push(recorded("taken", taken));
    if (exports === 1) emulator.edit(edited.id, { url: "https://b.example.com/" });
    if (exports === 1) emulator.remove(gone.id);
  };
  const { deleted, kept } = await run({ stacks: { dev: state }, before });
  expect(deleted).toEqual([]);
  expect(kept).toMatchObject({ [taken.id]: "not-deleted", [edited.id]: "not-deleted" });
  expect(deletions()).toEqual([]);
});

it("prune stops at the first endpoint that cannot be deleted, and reports what was deleted before", async () => {
  const [first, second] = [added("a"), added("b")];
  emulator.fault({
    operation: "delete",
    id: second.id,
    kind: "status",
    status: 403,
    times: Number.POSITIVE_INFINITY,
  });
  const { deleted, kept, failure, printedError } = await run({ stacks: { dev: {} } });
  expect(failure).toMatchObject({ code: "UNAUTHORIZED" });
  expect(printedError).toBe("UNAUTHORIZED");
  expect(deleted).toEqual([first.id]);
  expect(kept).toEqual({ [second.id]: "not-deleted" });
});

it("prune touches only the account of the key", async () => {
  await replaceEmulator({ accounts: { "other-key": "other" } });
  added("", { account: "other" });
  expect((await run({ stacks: { dev: {} } })).deleted).toEqual([]);
  expect(emulator.endpoints()).toHaveLength(1);
});
