import { type ConfiguredReceiverOptions, receiverFromFile } from "../../src/stack";
import { clock, delivered } from "../receiver/support";
import { MountedSecret } from "./mountedSecret";
import { configText, leaked, newSecret } from "./support";

const [first, second] = [newSecret(), newSecret()];
let mounted: MountedSecret;

beforeEach(() => {
  mounted = new MountedSecret(configText(first));
});
afterEach(() => mounted.unmount());

/** A receiver of that file, by a clock that stands. */
function receiving(options: Partial<ConfiguredReceiverOptions> = {}) {
  const time = clock();
  const errors: unknown[] = [];
  const receiver = receiverFromFile(
    { path: mounted.path },
    { handlers: {}, now: time.now, onSecretsError: (error) => errors.push(error), ...options },
  );
  const status = async (secret: string, sentAgoMs = 0) =>
    (await receiver.handle(delivered({ secret, at: time.now() - sentAgoMs }))).status;
  return { status, errors, pass: time.pass };
}

test("a new version counts without a restart, and the secret that it no longer holds is refused a minute later", async () => {
  const { status, pass, errors } = receiving();
  expect([await status(first), await status(second)]).toEqual([200, 401]);
  mounted.update(configText(first, second));
  pass(5_000);
  expect([await status(second), await status(first)]).toEqual([200, 200]);
  mounted.update(configText(second));
  pass(60_000);
  expect([await status(first), await status(second)]).toEqual([401, 200]);
  expect(errors).toEqual([]);
});

test("a version that cannot be used leaves the one before in use, and is told without a secret", async () => {
  const { status, pass, errors } = receiving();
  expect(await status(first)).toBe(200);
  const broken = [configText(second, "[secret]"), configText(second).slice(0, -7), `${second}\n`];
  for (const text of broken) {
    mounted.update(text);
    pass(60_000);
    expect([await status(first), await status(second)]).toEqual([200, 401]);
  }
  mounted.unmount();
  pass(60_000);
  expect(await status(first)).toBe(200);
  while (errors.length === broken.length) await new Promise(setImmediate);
  expect(errors).toMatchObject([
    ...broken.map(() => ({ code: "CONFIG_INVALID" })),
    { code: "CONFIG_MISSING" },
  ]);
  for (const error of errors) expect(String(error)).toContain(mounted.path);
  expect(leaked(errors, [first, second])).toEqual([]);
});

test("a file that breaks between the start and the first delivery leaves those of the start in use", async () => {
  const { status, errors } = receiving();
  mounted.update(configText(second).slice(0, -7));
  expect([await status(first), await status(second)]).toEqual([200, 401]);
  expect(errors).toMatchObject([{ code: "CONFIG_INVALID" }]);
});

test("a secret that was rotated between the start and the first delivery is not taken from the start", async () => {
  const { status } = receiving();
  mounted.update(configText(second));
  expect([await status(first), await status(second)]).toEqual([401, 200]);
});

test("the tolerance is the configuration's, unless the program gives one", async () => {
  const strict = JSON.stringify({ ...JSON.parse(configText(first)), toleranceSeconds: 10 });
  mounted.update(strict);
  expect(await receiving().status(first, 11_000)).toBe(401);
  expect(await receiving({ toleranceSeconds: undefined }).status(first, 11_000)).toBe(401);
  expect(await receiving({ toleranceSeconds: 20 }).status(first, 11_000)).toBe(200);
});
