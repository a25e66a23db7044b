import { parentPort, workerData } from "node:worker_threads";
import { type DiagnosisOptions, diagnose } from "./diagnosis";
import type { WorkerOutput } from "./inWorker";

const { body, ...options }: Omit<DiagnosisOptions, "onTried"> = workerData;
const send = (message: WorkerOutput) => parentPort?.postMessage(message);
// A Buffer arrives as a Uint8Array.
send({ diagnosis: diagnose({ ...options, body: Buffer.from(body), onTried: (tried) => send({ tried }) }) });
