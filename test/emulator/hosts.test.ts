import type { EmulatorOptions } from "../../src/emulator";
import { visit } from "./page/visit";
import { HOOK, started } from "./support";

const list = async (host: string, options: EmulatorOptions = {}) => {
  const emulator = await started(options);
  emulator.add(HOOK);
  const answer = await visit(emulator, "/webhooks", { headers: { host, "x-api-key": emulator.apiKey } });
  return { ...answer, emulator };
};

test.each(["localhost", "LOCALHOST:80", "127.0.0.1:8787", "127.9.9.9", "[::1]:8787"])(
  "the API answers to the host %s",
  async (host) => {
    expect((await list(host)).status).toBe(200);
  },
);

test.each([
  ["another site's name, as in DNS rebinding", "evil.example"],
  ["a name that begins with a loopback address", "127.0.0.1.evil.example"],
  ["a name that ends with localhost", "evil-localhost"],
  ["an address that is not the one of this connection", "192.0.2.1:8787"],
  ["a name that begins with an allowed one", "emulator.evil.example"],
])("the API refuses a host that is %s, before any fault, and shows no endpoint", async (_, host) => {
  const { status, body, emulator } = await list(host, { allowedHosts: ["emulator"] });
  expect(status).toBe(421);
  expect(JSON.parse(body)).toMatchObject({
    error: "misdirected",
    message: expect.stringContaining("allowedHosts"),
  });
  expect(body).not.toContain(HOOK.url);
  emulator.fault({ operation: "any", kind: "empty" });
  await visit(emulator, "/webhooks", { headers: { host } });
  expect(emulator.requests.map(({ statusCode, fault }) => [statusCode, fault])).toEqual([
    [421, undefined],
    [421, undefined],
  ]);
});

test.each(["emulator", "Emulator:8787", "host.docker.internal:9000", "[fd00::1]:8787"])(
  "the API answers to the allowed host %s, and the page does not",
  async (host) => {
    const allowedHosts = ["emulator", "HOST.docker.internal", "[fd00::1]"];
    const { status, emulator } = await list(host, { allowedHosts });
    expect(status).toBe(200);
    expect((await visit(emulator, "/_emulator/", { headers: { host } })).status).toBe(403);
  },
);

test("the API answers to the address that it listens on, and its url leads to this machine", async () => {
  const { status, emulator } = await list("0.0.0.0:8787", { host: "0.0.0.0" });
  expect([status, emulator.url]).toEqual([200, expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/)]);
});

test.each([["emulator"], [["http://emulator"]], [["emulator:8787"]], [["*"]], [[""]], [[1]]])(
  "the allowedHosts %j are refused",
  async (allowedHosts) => {
    const options = { allowedHosts } as unknown as EmulatorOptions;
    await expect(started(options)).rejects.toMatchObject({
      code: "EMULATOR_OPTIONS",
      message: expect.stringContaining("allowedHosts"),
    });
  },
);
