import { createHash } from "node:crypto";
import { type BodyVariant, THIS_BODY } from "./bodyVariant";
import { compressions } from "./compressions";
import { envelopes } from "./envelopes";
import { readings } from "./readings";
import { emptyListRewrites, numberRewrites, orderRewrites, rewrites } from "./rewrites";

/** A body can be wrapped twice: base64 in a JSON string. */
const MOST_LAYERS = 2;

/** Generates the bodies that the sender may have signed if this one was changed in a usual way. Likely and cheap ones come first. */
export function* bodyVariants(body: Buffer, contentEncoding?: string): Generator<BodyVariant> {
  const seen = new Set<string>();
  const isNew = ({ bytes }: BodyVariant) =>
    seen.size < seen.add(createHash("sha1").update(bytes).digest("base64")).size;
  const inner = [...layers(body, MOST_LAYERS)].filter(isNew);
  yield* envelopes(body);
  for (const reading of inner) {
    yield reading;
    yield* within(reading, envelopes(Buffer.from(reading.bytes)));
  }
  yield* compressions(body, contentEncoding);
  yield* rewrites(body);
  for (const reading of inner) yield* within(reading, rewrites(Buffer.from(reading.bytes)));
  for (const alsoWritten of [numberRewrites, orderRewrites, emptyListRewrites]) {
    yield* alsoWritten(body);
    for (const reading of inner) yield* within(reading, alsoWritten(Buffer.from(reading.bytes)));
  }
}

function* layers(body: Buffer, most: number): Generator<BodyVariant> {
  for (const reading of readings(body)) {
    yield reading;
    if (most > 1) yield* within(reading, layers(Buffer.from(reading.bytes), most - 1));
  }
}

/** The outer change is the one to undo first. */
function* within(
  { change, description: what }: BodyVariant,
  variants: Iterable<BodyVariant>,
): Generator<BodyVariant> {
  for (const { bytes, description } of variants)
    yield {
      change,
      bytes,
      description: description.includes(THIS_BODY)
        ? description.replace(THIS_BODY, what)
        : `${description}, of ${what}`,
    };
}
