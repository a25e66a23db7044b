import { memoryDedupe } from "../../src/receiver";
import { nodeHandler } from "../../src/receiver/adapters/node";
import { validateReceiver } from "../../src/validation";
import { delivered, otherSecret, receiverOf, secret } from "../receiver/support";
import { closeServers, serve } from "./receivers";

afterEach(closeServers);

const validation = { type: "webhook.validation", data: {} };

test("a receiver answers a genuine webhook.validation with 2xx and calls neither a handler nor the dedupe store", async () => {
  const onUnhandled = jest.fn();
  const store = memoryDedupe();
  const claim = jest.spyOn(store, "claim");
  const { receiver, outcomes } = receiverOf({
    dedupe: store,
    dedupeKey: () => {
      throw new Error("asked for a key");
    },
    handlers: { "job.succeeded": onUnhandled },
    onUnhandled,
  });
  const request = delivered({ id: "msg_v", body: validation });
  expect(await receiver.handle(request)).toMatchObject({ status: 200, body: "validated" });
  expect(await receiver.handle(request)).toMatchObject({ status: 200, body: "validated" });
  expect(onUnhandled).not.toHaveBeenCalled();
  expect(claim).not.toHaveBeenCalled();
  expect(outcomes).toMatchObject([
    { outcome: "validation", status: 200, id: "msg_v", event: "webhook.validation" },
    { outcome: "validation" },
  ]);
});

test("a receiver refuses a webhook.validation that another secret signed", async () => {
  const { receiver, rejections } = receiverOf();
  const request = delivered({ body: validation, secret: otherSecret });
  expect(await receiver.handle(request)).toMatchObject({ status: 401 });
  expect(rejections).toMatchObject([{ reason: "signature-mismatch" }]);
});

test("a receiver that passes a validation reports no mismatch, for any of its secrets", async () => {
  const secrets = [secret, otherSecret];
  const { receiver, rejections, outcomes } = receiverOf({ secrets });
  const url = await serve(nodeHandler(receiver));
  expect(await validateReceiver({ url, secrets })).toMatchObject({
    validated: true,
    broken: { status: 401 },
  });
  expect(outcomes).toMatchObject([{ outcome: "validation" }, { outcome: "validation" }]);
  expect(rejections).toEqual([]);
});

describe("after a genuine webhook.validation, a receiver reports a mismatch", () => {
  const genuine = { id: "msg_v", body: validation };
  const broken = { ...genuine, secret: otherSecret };

  test.each([
    ["of the same id only from the second on", [genuine, broken, broken, broken], 2],
    ["although the genuine one is sent again", [genuine, broken, genuine, broken], 1],
    ["of another id", [genuine, { ...broken, id: "msg_w" }], 1],
    ["that comes before the genuine one", [broken, genuine], 1],
    ["of the id of a delivery that is no validation", [{ id: "msg_v" }, broken], 1],
  ])("%s", async (_what, requests, reported) => {
    const { receiver, rejections } = receiverOf();
    for (const request of requests) {
      const { status } = await receiver.handle(delivered(request));
      expect(status).toBe("secret" in request ? 401 : 200);
    }
    expect(rejections).toHaveLength(reported);
    expect(rejections.every(({ reason }) => reason === "signature-mismatch")).toBe(true);
  });

  test("of the same id, but another reason", async () => {
    const { receiver, rejections } = receiverOf();
    await receiver.handle(delivered(genuine));
    await receiver.handle(delivered({ ...broken, at: 0 }));
    expect(rejections).toMatchObject([{ reason: "timestamp-too-old" }]);
  });

  test("a minute later", async () => {
    const { receiver, rejections } = receiverOf();
    await receiver.handle(delivered(genuine));
    const now = performance.now();
    const later = jest.spyOn(performance, "now").mockReturnValue(now + 61_000);
    await receiver.handle(delivered(broken));
    later.mockRestore();
    expect(rejections).toHaveLength(1);
  });

  test("of the first of many ids, which it has forgotten", async () => {
    const { receiver, rejections } = receiverOf();
    for (let at = 0; at < 40; at += 1) await receiver.handle(delivered({ ...genuine, id: `msg_${at}` }));
    await receiver.handle(delivered({ ...broken, id: "msg_39" }));
    expect(rejections).toEqual([]);
    await receiver.handle(delivered({ ...broken, id: "msg_0" }));
    expect(rejections).toHaveLength(1);
  });
});
