import { parentPort, workerData } from "node:worker_threads";
import { diagnose } from "./diagnosis";
import type { WorkerInput, WorkerOutput } from "./inWorker";
import { Search } from "./search";

const { seconds, body, ...options }: WorkerInput = workerData;
const send = (message: WorkerOutput) => parentPort?.postMessage(message);
const search = new Search({ seconds, onTried: (tried) => send({ tried }) });
send({ diagnosis: diagnose({ ...options, body: Buffer.from(body), search }) });
