import { startEmulator } from "../../src/emulator";
import { holdTime } from "../heldTime";
import { receiver } from "./receiver";
import { A, B, SUCCEEDED, verified } from "./signing";
import { HOOK, started, until, withReceiver } from "./support";

describe("a job", () => {
  test("a job's end is delivered while its failed start is retried", async () => {
    holdTime();
    const { emulator, received } = await withReceiver([500], { retryDelaysMs: [500] });
    const job = emulator.runJob({ jobId: "job_7" });
    await until(() => emulator.deliveries.length === 2);
    jest.advanceTimersByTime(500);
    expect((await job).jobId).toBe("job_7");
    const event = (status: string) => ({ type: `job.${status}`, data: { jobId: "job_7", status } });
    const bodies = received.map(({ body }) => JSON.parse(body));
    expect(bodies).toEqual(["running", "succeeded", "running"].map(event));
  });

  test("a receiver that refuses twice is warned about once, by its endpoint's id and not by its url", async () => {
    const emitWarning = jest.spyOn(process, "emitWarning").mockImplementation();
    const { url } = await receiver(401, 401, 401, 401, 401, 401, 401);
    const emulator = await startEmulator({ retryDelaysMs: [1, 1] });
    const { id } = emulator.add({ ...HOOK, url: `${url}?token=a-value-to-look-for` });
    await emulator.deliver(SUCCEEDED);
    await emulator.deliver(SUCCEEDED);
    const { calls } = emitWarning.mock;
    const warning = expect.stringMatching(new RegExp(`Attempt 2 .* 401 .*${id}`));
    expect(calls).toEqual([[warning, { code: "WEBHOOK_EMULATOR" }]]);
    expect(String(calls)).not.toContain("a-value-to-look-for");
    emitWarning.mockRestore();
    await emulator.close();
  });
});

describe("signing secrets", () => {
  test("production and development can have different secrets, and each of several signs", async () => {
    const secrets = { production: A, development: [A, B] };
    const { emulator, url, received } = await withReceiver([], { secrets });
    emulator.add({ ...HOOK, url, type: "development" });
    for (const endpointType of ["production", "development"] as const)
      await emulator.deliver({ ...SUCCEEDED, endpointType });
    const [production, development] = received.map((each) => [verified(each, A), verified(each, B)]);
    expect([production, development]).toEqual([[true, false], Array(2).fill(true)]);
  });

  test("during a rotation the old and the new secret both sign", async () => {
    const { emulator, received } = await withReceiver();
    const valid = async () => {
      await emulator.deliver(SUCCEEDED);
      return [A, B].map((secret) => verified(received.at(-1), secret));
    };
    expect(await valid()).toEqual([true, false]);
    const rotation = emulator.rotateSecret({ secret: B });
    expect(await valid()).toEqual([true, true]);
    rotation.finish();
    rotation.finish();
    expect(await valid()).toEqual([false, true]);
    const { secret } = emulator.rotateSecret({ type: "production" });
    expect([emulator.secrets(), emulator.secrets("development")]).toEqual([[secret, B], [B]]);
  });

  test("an invalid secret is refused without showing it, and each emulator generates its own by default", async () => {
    await expect(started({ secrets: "whsec_a-value-to-look-for" })).rejects.toThrow(/^(?!.*look-for)/);
    const emulator = await started();
    expect(() => emulator.rotateSecret({ secret: "plain" })).toThrow("whsec_");
    const [secret = ""] = emulator.secrets();
    expect(emulator.secrets("development")).toEqual([secret]);
    expect((await started()).secrets()).not.toEqual([secret]);
  });
});
