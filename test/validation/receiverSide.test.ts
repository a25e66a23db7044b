import { memoryDedupe } from "../../src/receiver";
import { delivered, otherSecret, receiverOf } from "../receiver/support";

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
