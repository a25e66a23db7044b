import { sign } from "../../src/signature";
import { SECRET, type Started, start } from "./commandLine";

const ADDRESS = /http:\/\/127\.0\.0\.1:\d+(?=$|"\})/m;

export function listen(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Started {
  return start(["listen", "--secret-env", "THE_SECRET", ...args], { env: { THE_SECRET: SECRET, ...env } });
}

/** Waits for the address that it prints. */
export async function addressOf(started: Started): Promise<string> {
  return (await started.until(ADDRESS))[0];
}

interface Sent {
  readonly id?: string;
  readonly body?: string | Buffer;
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Signs a delivery, and sends it. */
export async function send(
  url: string,
  {
    id = "msg_1",
    body = '{"type":"job.succeeded","data":{"jobId":"job_1"}}',
    secret = SECRET,
    headers = {},
  }: Sent = {},
): Promise<Response> {
  const signed = sign({ id, timestamp: Math.floor(Date.now() / 1000), body, secret });
  return fetch(url, {
    method: "POST",
    body,
    headers: { ...signed, "content-type": "application/json", ...headers },
  });
}
