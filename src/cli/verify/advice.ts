import type { VerificationFailure } from "../../signature/result";
import { type HeaderPair, isOurHeader } from "../capture/headerPair";
import type { BodyChange } from "./bodyVariant";
import type { SignatureMistake } from "./signatureMistake";

/**
 * Why a captured delivery does not verify. Stable, for programs: the reasons of a receiver, and in place of `signature-mismatch`
 * the cause of the mismatch.
 */
export type DiagnosisReason =
  | Exclude<VerificationFailure, "malformed-secret" | "invalid-clock" | "body-not-raw" | "signature-mismatch">
  | BodyChange
  | SignatureMistake["reason"]
  | "other-secret"
  | "wrong-secret"
  | "search-ended"
  | "timestamp-in-milliseconds";

interface Advice {
  /** What is wrong, as a sentence. */
  readonly finding: string;
  /** What to do, in sentences. */
  readonly advice: string;
}

const REPLACE_HEADER =
  "A proxy or relay adds headers that already exist: make it replace them. Several signatures belong in one header, separated by a space.";
const FORWARD_HEADERS =
  "A proxy removed it, or the file does not hold every header. Let everything in front of the receiver forward all headers.";
const OWN_SENDER =
  "The service does not sign this way, so another program sent it. Sign with `sign` of pulumi-webhook-endpoints/signature.";
const ONE_ON_EACH_LINE = "Write one header on each line of the file, as in `webhook-id: msg_1`.";
const MASKED = /^[^\w]+$|^\W*(redacted|masked|hidden|filtered|removed|omitted|secret|x{3,})\W*$/i;
const UNMASKED =
  "Take the header as it was received: a log or a proxy masks what looks like a secret. The files of `listen --save` hold it.";
const RAW_BODY =
  "Verify the bytes as they were received, before anything parses them; and capture them as bytes, not as a printed object.";

/** A finding here is for the reasons that need no more than their name. */
export const ADVICE: Readonly<Record<DiagnosisReason, Partial<Advice> & Pick<Advice, "advice">>> = {
  "missing-id": { finding: "The header webhook-id is missing.", advice: FORWARD_HEADERS },
  "missing-timestamp": { finding: "The header webhook-timestamp is missing.", advice: FORWARD_HEADERS },
  "missing-signature": { finding: "The header webhook-signature is missing.", advice: FORWARD_HEADERS },
  "duplicate-id": { finding: "The header webhook-id is there twice.", advice: REPLACE_HEADER },
  "duplicate-timestamp": { finding: "The header webhook-timestamp is there twice.", advice: REPLACE_HEADER },
  "duplicate-signature": { finding: "The header webhook-signature is there twice.", advice: REPLACE_HEADER },
  "malformed-id": {
    finding: "The header webhook-id holds a dot, a space or a character that is not visible ASCII.",
    advice: OWN_SENDER,
  },
  "malformed-timestamp": {
    finding: "The header webhook-timestamp is not a plain decimal number of unix seconds.",
    advice: OWN_SENDER,
  },
  "no-v1-signature": { finding: 'No entry of webhook-signature begins with "v1,".', advice: OWN_SENDER },
  "malformed-signature": {
    finding: 'No entry of webhook-signature is "v1," and 44 characters of base64.',
    advice: "It may be cut off. Compare the header with what the sender sent.",
  },
  "too-many-signatures": {
    finding: "The header webhook-signature has more than 32 entries.",
    advice: OWN_SENDER,
  },
  "timestamp-too-old": {
    advice:
      "Compare the receiver's clock with another machine's (`date -u`), and synchronize it with NTP. If a queue delays deliveries, verify before it.",
  },
  "timestamp-too-new": {
    advice: "Compare the receiver's clock with another machine's (`date -u`), and synchronize it with NTP.",
  },
  "timestamp-in-milliseconds": {
    advice:
      "Sign with `Math.floor(Date.now() / 1000)`. The service does, so another program sent this delivery.",
  },
  "body-reserialized": { advice: `Something parsed the body and wrote it again. ${RAW_BODY}` },
  "body-compressed": {
    advice:
      "Something compressed the body after it was signed. Turn compression of requests off between the sender and the receiver, or decompress the body before you verify it.",
  },
  "body-decompressed": {
    advice:
      "Something decompressed the body before it was verified. Let the proxy or the body parser in front of the receiver hand the bytes on as they were sent.",
  },
  "body-json-string": {
    advice: `Something wrote the body as a JSON string, such as JSON.stringify(event.body) of a body that is a string. ${RAW_BODY}`,
  },
  "body-base64": {
    advice: `Decode the base64 before you verify, as an AWS Lambda with isBase64Encoded does: Buffer.from(event.body, "base64"). ${RAW_BODY}`,
  },
  "body-printed": {
    advice: `The body is what a program printed of it. If the receiver verifies that, pass it the bytes instead. ${RAW_BODY}`,
  },
  "body-wrapped": {
    advice: `The delivery is a part of this body: a queue, a gateway or a mapping template put it there. Verify that part, as it was sent. ${RAW_BODY}`,
  },
  "newline-added": {
    advice: `An editor, \`echo\` or a tool for captures added the newline. If the receiver gets this body too, look for what reads the body line by line. ${RAW_BODY}`,
  },
  "newline-removed": { advice: `Something trimmed the body. ${RAW_BODY}` },
  "line-endings-changed": { advice: `Something converted the line ends. ${RAW_BODY}` },
  "byte-order-mark": {
    advice: `A byte order mark was added or removed when the body was decoded or saved. ${RAW_BODY}`,
  },
  "encoding-changed": { advice: `Something decoded the body with the wrong character set. ${RAW_BODY}` },
  "other-secret": {
    advice:
      "Give the receiver the secret of the endpoint that sends to it. Production and development endpoints may have different secrets.",
  },
  "wrong-secret": {
    finding:
      "The signature does not match: the sender has another secret, or the body was changed in a way that was not tried.",
    advice:
      "First make sure that the file holds the whole body, byte for byte: the files of `listen --save` do. If other deliveries verify with this secret, it is right, and something changed this body. If none does, compare the secret with the one that the service issued for this endpoint.",
  },
  "search-ended": {
    finding: "The signature does not match, and not everything that may explain it was tried.",
    advice:
      "Compare the secret with the one that the service issued for this endpoint, and make sure that the file holds the whole body. If both are right, search for longer, such as with --search 600, or capture a smaller delivery.",
  },
  "signature-encoding": { advice: `Write the signature as base64, with padding. ${OWN_SENDER}` },
  "key-not-decoded": { advice: `Decode the base64 after whsec_ before you sign. ${OWN_SENDER}` },
  "signed-content": { advice: `Sign the id, the timestamp and the body, joined with dots. ${OWN_SENDER}` },
};

/** Returns what to say about a reason. */
export function adviceFor(reason: DiagnosisReason, headers: readonly HeaderPair[]): Advice {
  const { finding = "", advice } = ADVICE[reason];
  const isOdd = /^malformed-|^no-v1-/.test(reason);
  if (isOdd && headers.some((header) => isOurHeader(header) && MASKED.test(header[1])))
    return { finding: `${finding} A header was masked when it was printed.`, advice: UNMASKED };
  if (isOdd && headers.some(isPrinted)) return { finding, advice: ONE_ON_EACH_LINE };
  if (!reason.startsWith("missing-") || headers.some(isOurHeader)) return { finding, advice };
  if (headers.length === 0)
    return { finding: "The file of headers holds no header.", advice: ONE_ON_EACH_LINE };
  return {
    finding: "The headers webhook-id, webhook-timestamp and webhook-signature are missing.",
    advice: `This is not a delivery of the service, or the file holds the headers of something else, or they could not be read. ${ONE_ON_EACH_LINE}`,
  };
}

/** True if a header of ours is a list or an object as a program printed it, which is not read. */
function isPrinted(header: HeaderPair): boolean {
  return isOurHeader(header) && /^(\w+ ?\(|array:\d+ \[|[[{<])/.test(header[1]);
}
