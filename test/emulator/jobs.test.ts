import { type EmulatorOptions, startEmulator } from "../../src/emulator";
import { receiver } from "./receiver";
import { A, SUCCEEDED } from "./signing";
import { HOOK, started, until } from "./support";

describe("a job", () => {
  test.each(["succeeded", "failed"] as const)(
    "a job that %s delivers its start and its end",
    async (outcome) => {
      const { url, received } = await receiver();
      const emulator = await started({ secrets: A });
      emulator.add({ ...HOOK, url });
      const job = await emulator.runJob({ outcome, durationMs: 1 });
      expect([job.running.delivered, job.finished.delivered]).toEqual([true, true]);
      expect(received.map(({ body }) => JSON.parse(body))).toEqual([
        { type: "job.running", data: { jobId: job.jobId, status: "running" } },
        { type: `job.${outcome}`, data: { jobId: job.jobId, status: outcome } },
      ]);
    },
  );

  test("a job's end is delivered while its failed start is retried", async () => {
    const { url, received } = await receiver(500);
    const emulator = await started({ retryDelaysMs: [500] });
    emulator.add({ ...HOOK, url });
    const { jobId } = await emulator.runJob({ jobId: "job_7" });
    expect(jobId).toBe("job_7");
    expect(received.map(({ body }) => JSON.parse(body).type)).toEqual([
      "job.running",
      "job.succeeded",
      "job.running",
    ]);
  });
});

describe("a receiver that refuses everything", () => {
  const refused = async (options: EmulatorOptions = {}) => {
    const { url, received } = await receiver(...Array<number>(50).fill(401));
    const warnings: string[] = [];
    const emulator = await started({ secrets: A, warn: (warning) => warnings.push(warning), ...options });
    const { id } = emulator.add({ ...HOOK, url: `${url}?token=a-value-to-look-for` });
    return { emulator, received, warnings, id };
  };

  test("runJob() warns once, after the second attempt, with the endpoint and the status", async () => {
    const { emulator, received, warnings, id } = await refused({ retryDelaysMs: [10, 3_600_000] });
    const job = emulator.runJob().catch((error: unknown) => error);
    await until(() => warnings.length > 0);
    expect(received.length).toBeGreaterThanOrEqual(2);
    await until(() => emulator.deliveries.length === 4);
    expect(warnings).toEqual([expect.stringMatching(new RegExp(`${id}.*401.*attempt 2`))]);
    expect(warnings[0]).not.toContain("a-value-to-look-for");
    await emulator.close();
    await job;
  });

  test("deliver() warns too, and not about a delivery that a retry delivers, nor about one that ends", async () => {
    const { url } = await receiver(500, 204, 500);
    const { emulator, warnings, id } = await refused({ retryDelaysMs: [1] });
    emulator.edit(id, { url });
    await emulator.deliver(SUCCEEDED);
    expect(warnings).toEqual([]);
    await emulator.deliver({ ...SUCCEEDED, retryDelaysMs: [] });
    expect(warnings).toEqual([]);
  });

  test("by default, the warning is a warning of the process", async () => {
    const emitWarning = jest.spyOn(process, "emitWarning").mockImplementation();
    const { url } = await receiver(401, 401, 401, 401);
    const emulator = await startEmulator({ retryDelaysMs: [1, 1] });
    emulator.add({ ...HOOK, url });
    await emulator.deliver(SUCCEEDED);
    await emulator.close();
    const [[message, options] = []] = emitWarning.mock.calls;
    emitWarning.mockRestore();
    expect([message, options]).toEqual([expect.stringContaining("401"), { code: "WEBHOOK_EMULATOR" }]);
  });

  test.each(["runJob", "deliver"] as const)(
    "%s() rejects after its timeoutMs, and says who refused what",
    async (method) => {
      const { emulator, id } = await refused({ retryDelaysMs: [1, 3_600_000] });
      const begun = performance.now();
      const event = method === "deliver" ? SUCCEEDED : {};
      const error: unknown = await emulator[method]({ ...event, timeoutMs: 300 } as never).catch(
        (reason: unknown) => reason,
      );
      expect(performance.now() - begun).toBeLessThan(60_000);
      expect(error).toMatchObject({
        code: "EMULATOR_TIMEOUT",
        message: expect.stringMatching(/300 ms.*401/),
      });
      expect(String(error)).toContain(id);
      expect(String(error)).not.toContain("a-value-to-look-for");
    },
  );

  test("runJob() rejects after its timeoutMs while a receiver does not answer", async () => {
    const { url } = await receiver("hang");
    const emulator = await started();
    emulator.add({ ...HOOK, url });
    await expect(emulator.runJob({ timeoutMs: 100 })).rejects.toMatchObject({
      code: "EMULATOR_TIMEOUT",
      message: expect.stringContaining("no answer"),
    });
  });

  test("a timeoutMs that does not pass keeps no timer, and the result is the same", async () => {
    const { url } = await receiver();
    const emulator = await started();
    emulator.add({ ...HOOK, url });
    expect((await emulator.runJob({ timeoutMs: 60_000 })).finished.delivered).toBe(true);
    const timers = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    expect((await emulator.deliver({ ...SUCCEEDED, timeoutMs: 60_000 })).delivered).toBe(true);
    expect(process.getActiveResourcesInfo().filter((name) => name === "Timeout")).toHaveLength(timers);
  });
});
