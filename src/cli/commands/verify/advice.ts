const RAW_BODY = "Verify the bytes as they were received, before anything parses them.";
const CLOCK = "Compare the clock of the receiver with another machine's, and synchronize it with NTP.";
const MALFORMED =
  "The service does not sign this way, so another program sent it. Sign with `sign` of this package. Or a proxy adds headers that " +
  "exist already: make it replace them.";

/** What to do about each cause, as sentences. */
export const ADVICE = {
  "missing-header": "Let everything in front of the receiver forward all headers, and save all of them.",
  "malformed-id": MALFORMED,
  "malformed-timestamp": MALFORMED,
  "malformed-signature": MALFORMED,
  "timestamp-too-old": `${CLOCK} If a queue delays deliveries, verify before it.`,
  "timestamp-too-new": CLOCK,
  "timestamp-in-milliseconds": "Sign with Math.floor(Date.now() / 1000).",
  "other-secret": "Give the receiver the secret of the endpoint that sends to it.",
  "key-not-decoded": "Decode the base64 after whsec_ before you sign.",
  "newline-added": `An editor or \`echo\` added the newline. ${RAW_BODY}`,
  "newline-removed": `Something trimmed the body. ${RAW_BODY}`,
  "line-endings-changed": `Something converted the line ends. ${RAW_BODY}`,
  "byte-order-mark": `A byte order mark was added or removed when the body was decoded or saved. ${RAW_BODY}`,
  "body-reserialized": `Something parsed the body and wrote it again. ${RAW_BODY}`,
  "body-json-string": `Something wrote the body as a JSON string, such as JSON.stringify of a string. ${RAW_BODY}`,
  "body-base64": 'Decode it first, as for an event of AWS Lambda: Buffer.from(event.body, "base64").',
  "body-compressed": "Something compressed the body after it was signed. Decompress it before you verify it.",
  "signature-mismatch":
    "Make sure that the file holds the whole body, byte for byte, as a file of `listen --save` does. Then compare the secret with " +
    "the one that the service issued for this endpoint: the fingerprint of a secret identifies it. To try another secret, set WEBHOOK_SECRET " +
    "to it, without --stack.",
} as const;

/** Why a captured delivery does not verify. */
export type Cause = keyof typeof ADVICE;
