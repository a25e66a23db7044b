import { startEmulator } from "../../src/emulator";
import { holdTime } from "../heldTime";
import { receiver } from "./receiver";
import { A, B, SUCCEEDED, verified } from "./signing";
import { HOOK, started, until, withReceiver } from "./support";

describe("a job", () => {
  test.each(["succeeded", "failed"] as const)(
    "a job that %s delivers its start and its end",
    async (outcome) => {
      const { emulator, received } = await withReceiver();
      const job = await emulator.runJob({ outcome });
      expect([job.running.delivered, job.finished.delivered]).toEqual([true, true]);
      expect(received.map(({ body }) => JSON.parse(body))).toEqual([
        { type: "job.running", data: { jobId: job.jobId, status: "running" } },
        { type: `job.${outcome}`, data: { jobId: job.jobId, status: outcome } },
      ]);
    },
  );

  test("a job's end is delivered while its failed start is retried", async () => {
    holdTime();
    const { emulator, received } = await withReceiver([500], { retryDelaysMs: [500] });
    const job = emulator.runJob({ jobId: "job_7" });
    await until(() => emulator.deliveries.length === 2);
    jest.advanceTimersByTime(500);
    expect((await job).jobId).toBe("job_7");
    const types = received.map(({ body }) => JSON.parse(body).type);
    expect(types).toEqual(["job.running", "job.succeeded", "job.running"]);
  });

  test("a receiver that refuses twice is warned about once, by its endpoint's id and not by its url", async () => {
    const emitWarning = jest.spyOn(process, "emitWarning").mockImplementation();
    const { url } = await receiver(401, 401, 401, 401);
    const emulator = await startEmulator({ retryDelaysMs: [1, 1] });
    const { id } = emulator.add({ ...HOOK, url: `${url}?token=a-value-to-look-for` });
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
