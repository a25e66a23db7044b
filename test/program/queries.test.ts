import { type Emulator, startEmulator } from "../../src/emulator";
import { lookUpEndpoint, lookUpEndpoints } from "../../src/program/lookUpEndpoints";

const warnings: string[] = [];
let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator();
});
beforeEach(() => {
  warnings.length = 0;
});
afterAll(() => emulator.close());

const optionsOf = (more: Readonly<Record<string, string>> = {}) => {
  const configuration = { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": emulator.apiKey, ...more };
  return {
    configuration: (key: string) => Reflect.get(configuration, key) as string | undefined,
    environment: {},
    warn: (message: string) => warnings.push(message),
  };
};

test("a look-up returns one endpoint, or those that fit, in any spelling", async () => {
  const jobs = emulator.add({ url: "https://hooks.example.com/jobs", type: "production" });
  const other = emulator.add({ url: "https://hooks.example.com/jobs", type: "development" });
  expect(await lookUpEndpoint(jobs.id, optionsOf())).toMatchObject({ createdAt: jobs.createdAt });
  const ids = async (filter: object) => (await lookUpEndpoints(filter, optionsOf())).map(({ id }) => id);
  expect(await ids({})).toEqual([jobs.id, other.id]);
  expect(await ids({ url: "HTTPS://HOOKS.example.com:443/jobs", type: "development" })).toEqual([other.id]);
  expect(await ids({ url: "https://other.example.com/" })).toEqual([]);
  expect(warnings).toEqual([]);
});

test.each<[string, Record<string, string>, RegExp, object?]>([
  ["a filter that is none", {}, /url must be a string; type must be.*INVALID/s, { url: 7, type: "prod" }],
  ["a setting that is missing", { "webhooks:apiKey": "" }, /API key is missing.*SETTINGS_INVALID/],
  ["a key that is refused", { "webhooks:apiKey": "wr0ng" }, /401.*UNAUTHORIZED/s],
])("%s is an error that says what to do, without the key", async (_, settings, message, filter = {}) => {
  const { message: said } = await lookUpEndpoints(filter, optionsOf(settings)).catch((error) => error);
  expect(said).toMatch(message);
  expect(said).not.toContain("wr0ng");
});

test("a missing endpoint is an error, and the service's refusal shows only if the user wants that", async () => {
  await expect(lookUpEndpoint("wh_none", optionsOf())).rejects.toThrow(/wh_none.*NOT_FOUND/s);
  const refusal = { operation: "list", kind: "status", status: 400, body: { reason: "closed" } } as const;
  emulator.fault({ ...refusal, times: 2 });
  await expect(lookUpEndpoints({}, optionsOf())).rejects.toThrow(/REJECTED/);
  expect(warnings).toEqual([]);
  const showing = optionsOf({ "webhooks:showResponses": "true" });
  await expect(lookUpEndpoints({}, showing)).rejects.toThrow(/REJECTED/);
  expect(warnings).toEqual([expect.stringMatching(/^the service answered 400: .*closed/)]);
});

test("a look-up warns of what a list leaves out", async () => {
  const body = { data: [{ id: "wh_odd", url: "https://a.example.com", type: "new" }], next: "more" };
  emulator.fault({ operation: "list", kind: "status", status: 200, body });
  expect(await lookUpEndpoints({}, optionsOf())).toEqual([]);
  expect(warnings).toEqual([
    expect.stringMatching(/lists only a part/),
    expect.stringMatching(/left out 1 endpoint that cannot be read/),
  ]);
});
