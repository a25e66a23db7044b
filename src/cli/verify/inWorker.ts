import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { type Diagnosis, type DiagnosisOptions, unexplained } from "./diagnosis";

export interface WorkerInput extends Omit<DiagnosisOptions, "search" | "body"> {
  readonly body: Uint8Array;
  readonly seconds: number;
}

export type WorkerOutput = { readonly tried: number } | { readonly diagnosis: Diagnosis };

interface InWorkerOptions {
  readonly onTried: (tried: number) => void;
}

/** How long the search may go on after its time was over, in milliseconds: a single candidate of megabytes takes a while. */
const GRACE_MS = 2_000;

/** Diagnoses a delivery in a thread of its own, so that Ctrl-C and progress do not wait for megabytes. */
export async function diagnoseInWorker(input: WorkerInput, { onTried }: InWorkerOptions): Promise<Diagnosis> {
  const worker = new Worker(join(__dirname, "worker.js"), { workerData: input });
  let tried = 0;
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Diagnosis>((resolve, reject) => {
      timer = setTimeout(
        () =>
          resolve(
            unexplained({
              ...input,
              body: Buffer.from(input.body),
              search: { hasEnded: true, seconds: input.seconds, tried },
            }),
          ),
        input.seconds * 1000 + GRACE_MS,
      );
      worker.once("error", reject).on("message", (message: WorkerOutput) => {
        if ("diagnosis" in message) return resolve(message.diagnosis);
        tried = message.tried;
        onTried(tried);
      });
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
