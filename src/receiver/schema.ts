import { CodedError } from "../shared/codedError";
import type { Work } from "./delivery";
import type { SchemaIssue, StandardSchema } from "./types";

/** Has a delivery handled with its data as the schema gives it. The work rejects with an InvalidDataError if it does not fit. */
export function onValidData(schema: StandardSchema, event: string, work: Work): Work {
  return async (delivery) => {
    const result = await schema["~standard"].validate(delivery.data);
    if (result.issues) throw new InvalidDataError(event, result.issues);
    // While the schema was asked, the delivery may have become the sender's or the queue's again.
    delivery.throwIfExpired();
    delivery.data = result.value;
    return work(delivery);
  };
}

/** A delivery's data does not fit the schema of its event. */
class InvalidDataError extends CodedError<"INVALID_DATA"> {
  override readonly name = "InvalidDataError";
  readonly #issues: readonly SchemaIssue[];

  constructor(event: string, issues: readonly SchemaIssue[]) {
    const places = [...new Set(issues.map(placeOf))].slice(0, 5).join(", ");
    super(
      "INVALID_DATA",
      `The data of "${event}" does not fit its schema, at ${places}. See the error's issues.`,
    );
    this.#issues = issues;
  }

  /** What the schema found. A schema may repeat values, so neither the message nor what a logger prints of the error has it. */
  get issues(): readonly SchemaIssue[] {
    return this.#issues;
  }
}

/** Of a record, the sender chooses the keys: what is no short name stays in `issues`. */
function placeOf({ path = [] }: SchemaIssue): string {
  const names = path.map((part) => String(typeof part === "object" ? part.key : part));
  return (
    names
      .map((name) => (/^[\w$-]{1,40}$/.test(name) ? name : "…"))
      .join(".")
      .slice(0, 100) || "its root"
  );
}
