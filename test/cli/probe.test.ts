import { receiver } from "../emulator/receiver";
import type { Served } from "../stack/support";
import { always, closeServers, ours, serve as serveAt } from "../validation/receivers";
import { OTHER_SECRET, run, SECRET, serveReceiver } from "./running";

let served: Served;
beforeEach(async () => {
  served = await serveReceiver();
});
afterEach(async () => {
  await served.close();
  await closeServers();
});

test("a receiver that verifies is validated", async () => {
  const env = { WEBHOOK_SECRET: SECRET };
  expect(await run(["probe", served.url], { env })).toEqual({
    status: 0,
    stdout: expect.stringMatching(
      /^The receiver accepted a delivery that was signed with its secret \(200\), and refused one with a broken signature \(401\)\.\nTried secret [0-9a-f]{12} of WEBHOOK_SECRET\. .*the service signs with it\.\n$/,
    ),
    stderr: "",
  });
});

test("each secret of a rotation is tried, and named by its fingerprint", async () => {
  const env = { WEBHOOK_SECRET: `${SECRET} ${OTHER_SECRET}` };
  const { status, stdout } = await run(["probe", served.url], { env });
  expect(status).toBe(1);
  expect(stdout).toMatch(
    /^Not proven: .* \([A-Z_]+\)\.\nTried secret [0-9a-f]{12} and secret [0-9a-f]{12} of WEBHOOK_SECRET\.\nThe receiver's response:\n {2}not verified\n$/,
  );
});

test("--wait retries temporary failures", async () => {
  let asked = 0;
  const verifying = ours(SECRET);
  const starting = always(503);
  const url = await serveAt((request, response) =>
    // The genuine and the broken delivery of an attempt may arrive in either order.
    (++asked > 2 ? verifying : starting)(request, response),
  );
  const args = ["probe", url, "--wait", "3600"];
  expect(await run(args, { env: { WEBHOOK_SECRET: SECRET } })).toMatchObject({ status: 0 });
});

test("without --wait, it asks once", async () => {
  const starting = await receiver(503, 401);
  const env = { WEBHOOK_SECRET: SECRET };
  const { status, stdout } = await run(["probe", starting.url, "--json"], { env });
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ validated: false, code: "RECEIVER_NOT_READY" });
  expect(starting.received).toHaveLength(2);
});
