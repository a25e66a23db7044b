import type { HeaderPair } from "../../../src/cli/capture/headerPair";
import { type Diagnosis, diagnose } from "../../../src/cli/verify/diagnosis";
import { sign } from "../../../src/signature";
import { newSecret } from "../../stack/support";

export const SECRET = newSecret();
export const TEXT =
  '{"type":"job.succeeded","data":{"name":"jöb €/1 <a+b> \'\\"&","cost":1,"rate":0.5,"tags":["a",{}]}}';

export const NOW = 1_700_000_000;
export const OPTIONS = {
  secrets: [{ name: "the secret", value: SECRET }],
  otherSecrets: [],
  toleranceSeconds: 300,
  receivedAt: undefined,
  now: NOW + 100,
};

export interface Delivery {
  readonly signed: string | Buffer;
  readonly body: string | Buffer;
  readonly headers?: readonly HeaderPair[];
  readonly seconds?: number;
}

/** Signs a delivery, and finds out why another body does not verify. */
export function diagnosisOf({ signed, body, headers = [], seconds = 20 }: Delivery): Diagnosis {
  const sent = sign({ id: "msg_1", timestamp: NOW, body: signed, secret: SECRET });
  return diagnose({
    body: Buffer.from(body),
    headers: [...Object.entries(sent), ...headers],
    ...OPTIONS,
    seconds,
  });
}
