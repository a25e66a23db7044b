import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { type Diagnosis, type DiagnosisOptions, unexplained } from "./diagnosis";

export type WorkerOutput = { readonly tried: number } | { readonly diagnosis: Diagnosis };

/** How long the search may go on after its time was over, in milliseconds: a single candidate of megabytes takes a while. */
const GRACE_MS = 2_000;

/** Diagnoses a delivery in a thread of its own, so that Ctrl-C and progress do not wait for megabytes. */
export async function diagnoseInWorker({ onTried, ...input }: DiagnosisOptions): Promise<Diagnosis> {
  const worker = new Worker(join(__dirname, "worker.js"), { workerData: input });
  let tried = 0;
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Diagnosis>((resolve, reject) => {
      const giveUp = () => resolve(unexplained({ ...input, tried, hasEnded: true }));
      timer = setTimeout(giveUp, input.seconds * 1000 + GRACE_MS);
      worker.once("error", reject).on("message", (message: WorkerOutput) => {
        if ("diagnosis" in message) return resolve(message.diagnosis);
        tried = message.tried;
        onTried?.(tried);
      });
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
