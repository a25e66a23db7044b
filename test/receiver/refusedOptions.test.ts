import {
  createReceiver,
  type DedupeStore,
  memoryDedupe,
  type ReceiverOptions,
  type RedisDedupeOptions,
  redisDedupe,
} from "../../src/receiver";
import { receiverOf, secret } from "./support";

const handlers = {};
const options = (more: object) => ({ secrets: secret, handlers, ...more }) as ReceiverOptions;

test.each([
  [{ handler: {} }, /handler is not an option of createReceiver \(did you mean handlers\?\)\.$/],
  [{ handlerTimeout: 5 }, /handlerTimeout is not .* \(did you mean handlerTimeoutMs\?/],
  [{ tolerance: 5 }, /tolerance is not an option of createReceiver/],
  [{ onOutcomes() {} }, /did you mean onOutcome\?/],
  [{ deDupe: memoryDedupe() }, /did you mean dedupe\?/],
  [{ zzz: 1 }, /zzz is not an option of createReceiver; use secrets, handlers/],
])("createReceiver refuses the unknown option of %o by name", (more, message) => {
  expect(() => createReceiver(options(more))).toThrow(TypeError);
  expect(() => createReceiver(options(more))).toThrow(message);
});

test("an unknown option that is undefined counts as left out", () => {
  expect(() => createReceiver(options({ handler: undefined }))).not.toThrow();
});

test("no error repeats an option's name that may be a secret", () => {
  expect(() => createReceiver(options({ [secret]: true }))).toThrow(/is not shown/);
  expect(() => createReceiver(options({ [secret]: true }))).not.toThrow(secret.slice(6));
});

test.each([undefined, null, secret, Promise.resolve({})])(
  "createReceiver refuses %p in place of options",
  (wrong) => {
    expect(() => createReceiver(wrong as unknown as ReceiverOptions)).toThrow(
      /expected an object with the options/,
    );
  },
);

const { claim, complete } = memoryDedupe();
test.each<[unknown, RegExp]>([
  [null, /dedupe has no function claim, complete, release/],
  [true, /dedupe has no function/],
  ["redis://localhost", /dedupe has no function/],
  [new Map(), /dedupe has no function/],
  [memoryDedupe, /dedupe is a function; call it/],
  [Promise.resolve(memoryDedupe()), /dedupe is a promise; await it/],
  [{ claim, complete }, /dedupe has no function release/],
  [{ evalsha() {}, eval() {} }, /redisDedupe\(\{ client \}\)/],
])("createReceiver refuses the dedupe store %p", (dedupe, message) => {
  const start = () => receiverOf({ dedupe: dedupe as DedupeStore });
  expect(start).toThrow(TypeError);
  expect(start).toThrow(message);
});

test.each(["onRejected", "onOutcome", "onSecretsError", "onUnrecorded", "dedupeKey", "now"])(
  "createReceiver refuses an option %s that is not a function",
  (name) => {
    for (const wrong of [null, 5, "log", {}])
      expect(() => receiverOf({ [name]: wrong })).toThrow(
        new RegExp(`createReceiver: ${name} must be a function`),
      );
  },
);

test("createReceiver refuses null for maxBodyBytes as for any other number", () => {
  expect(() => createReceiver(options({ maxBodyBytes: null }))).toThrow(
    /maxBodyBytes must be a whole number/,
  );
});

test("memoryDedupe refuses an option now that is not a function", () => {
  for (const now of [null, 5, new Date()])
    expect(() => memoryDedupe({ now } as object)).toThrow(/memoryDedupe: now must be a function/);
});

test.each([
  [Promise.resolve(secret), /it is a promise: await it first/],
  [new Set([secret]), /it is of type object, neither a string nor a list of strings/],
  [5, /it is of type number, neither/],
  [null, /there is none/],
])("createReceiver says of secrets that are %p what they are", (secrets, message) => {
  expect(() => createReceiver(options({ secrets }))).toThrow(message);
});

test("memoryDedupe and redisDedupe refuse unknown options by name", () => {
  expect(() => memoryDedupe({ maxEntry: 5 } as object)).toThrow(/did you mean maxEntries\?/);
  const client = { evalsha() {}, eval() {} };
  const redis = (given: object) => () => redisDedupe(given as RedisDedupeOptions);
  expect(redis({ client, keyPrefix: "a:" })).toThrow(/keyPrefix is not an option of redisDedupe/);
  expect(redis({ client, prefx: "a:" })).toThrow(/did you mean prefix\?/);
  expect(redis({ client, prefix: 5 })).toThrow(/prefix must be a string/);
  expect(redis(client)).toThrow(/Use redisDedupe\(\{ client \}\)/);
  expect(redis({ client })).not.toThrow();
  // As Upstash's, whose evalsha takes lists: each delivery would be answered 503.
  expect(redis({ client: { ...client, createScript() {} } })).toThrow(
    /must be a node-redis client.*or an ioredis/,
  );
});
