import * as pulumi from "@pulumi/pulumi";
import { getWebhookEndpoint, getWebhookEndpoints, WebhookEndpoint, WebhooksProvider } from "../../src";
import { type Emulator, startEmulator } from "../../src/emulator";

const type = "production";
let emulator: Emulator;
let opts: { provider: WebhooksProvider };

beforeAll(async () => {
  await pulumi.runtime.setMocks({
    newResource: ({ name, inputs }) => ({ id: `wh_${name}`, state: inputs }),
    call: ({ inputs }) => inputs,
  });
  emulator = await startEmulator();
  opts = { provider: new WebhooksProvider("account", { baseUrl: emulator.url, apiKey: emulator.apiKey }) };
});
afterAll(() => emulator.close());

const known = <T>(output: pulumi.Output<T>) => new Promise<T>((resolve) => output.apply(resolve));

/** Adds an endpoint to the service, and looks it up. Returns once the service has answered. */
async function answered(url: string): Promise<pulumi.Output<unknown>> {
  const { id } = emulator.add({ url, type });
  const gets = () => emulator.requests.filter(({ path }) => path.endsWith(id)).length;
  const query = getWebhookEndpoint({ id }, opts);
  while (gets() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  return query;
}

/** Returns a promise of a url, and what keeps it. */
function later(): { url: Promise<string>; become: (url: string) => void } {
  let become: (url: string) => void = () => {};
  const url = new Promise<string>((resolve) => {
    become = resolve;
  });
  return { url, become };
}

test("a url that the program declared as a secret comes back from queries as a secret, and other urls do not", async () => {
  const open = emulator.add({ url: "https://open.example.com/", type });
  const hidden = emulator.add({ url: "https://HIDDEN.example.com/t0ken", type });
  new WebhookEndpoint("hidden", { url: pulumi.secret("https://hidden.example.com/t0ken"), type });
  new WebhookEndpoint("plain", { url: pulumi.output(open.url), type });
  expect(await pulumi.isSecret(getWebhookEndpoint({ id: open.id }, opts))).toBe(false);
  const secret = getWebhookEndpoint({ id: hidden.id }, opts);
  expect(await pulumi.isSecret(secret)).toBe(true);
  expect(await known(secret)).toMatchObject({ id: hidden.id });
  expect(await pulumi.isSecret(getWebhookEndpoints({}, opts))).toBe(true);
  expect(await known(getWebhookEndpoints({ url: open.url }, opts))).toHaveLength(1);
});

test("a url that becomes known as a secret only after the service has answered comes back as a secret", async () => {
  const { url, become } = later();
  new WebhookEndpoint("late", {
    url: pulumi.all([url, pulumi.secret("t0ken")]).apply(([host]) => host),
    type,
  });
  const query = await answered("https://late.example.com/t0ken");
  become("https://late.example.com/t0ken");
  expect(await pulumi.isSecret(query)).toBe(true);
});

test("a url that becomes known only after the service has answered, and is no secret, hides nothing", async () => {
  const { url, become } = later();
  new WebhookEndpoint("late and plain", { url: pulumi.output(url), type });
  const query = await answered("https://plain.example.com/");
  become("https://plain.example.com/");
  expect(await pulumi.isSecret(query)).toBe(false);
});

test("a url that stays unknown makes a query secret after a moment, so a url may depend on the query itself", async () => {
  const { id } = emulator.add({ url: "https://origin.example.com/", type });
  const asked = pulumi.output("").apply(() => getWebhookEndpoint({ id }, opts));
  const copy = new WebhookEndpoint("copy", { url: asked.url, type: "development" });
  expect(await pulumi.isSecret(asked)).toBe(true);
  expect(await known(copy.url)).toBe("https://origin.example.com/");
});

test("a query whose arguments depend on a resource ends once the resource is registered", async () => {
  const jobs = new WebhookEndpoint("jobs", { url: "https://jobs.example.com/", type });
  const { id } = emulator.add({ url: "https://jobs.example.com/", type });
  const query = getWebhookEndpoints({ url: jobs.url }, opts);
  expect(await known(query)).toMatchObject([{ id }]);
  expect(await pulumi.isSecret(query)).toBe(false);
});

test("a secret url that a preview does not know makes a query secret", async () => {
  const { unknown } = jest.requireActual("@pulumi/pulumi/output");
  const url = "https://unknown.example.com/";
  const hidden = pulumi.secret(pulumi.output<string>(unknown));
  new WebhookEndpoint("unknown and plain", { url: pulumi.output<string>(unknown), type });
  expect(await pulumi.isSecret(await answered(url))).toBe(false);
  new WebhookEndpoint("unknown", { url: hidden, type });
  expect(await pulumi.isSecret(await answered(url))).toBe(true);
});
