import { randomBytes } from "node:crypto";
import { JOB_EVENTS } from "../../receiver/event";
import { parseJson } from "../../shared/json";
import { CliError } from "../errors";
import { readInput } from "../inputFile";

/** Returns the body of a delivery. `data` is JSON, or `@` and the path of a file. @throws CliError `WRONG_USE` or `FILE_UNREADABLE` */
export async function bodyOf(event: string, data: string | undefined): Promise<string> {
  return `{"type":${JSON.stringify(event)},"data":${data === undefined ? defaultData(event) : await jsonOf(data)}}`;
}

function defaultData(event: string): string {
  if (!(JOB_EVENTS as readonly string[]).includes(event)) return "{}";
  const jobId = `job_${randomBytes(8).toString("hex")}`;
  return JSON.stringify({ jobId, status: event.slice("job.".length) });
}

/** Returns JSON as it was given, because parsing it would change large numbers. */
async function jsonOf(data: string): Promise<string> {
  const isFile = data.startsWith("@");
  const text = (isFile ? (await readInput(data.slice(1), "--data")).toString("utf8") : data).trim();
  if (parseJson(text) !== undefined) return text;
  const where = isFile ? "the file of --data" : "--data";
  throw new CliError("WRONG_USE", `${where} must hold JSON, such as {"jobId":"job_1","status":"succeeded"}`);
}
