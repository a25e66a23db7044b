import { CodedError } from "../shared/codedError";

/** The part of a Standard Schema (https://standardschema.dev) that is used: of Zod, Valibot, ArkType and others. */
export interface StandardSchema<Data = unknown> {
  /** What the Standard Schema specification defines. */
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Data> | Promise<SchemaResult<Data>>;
    readonly types?: { readonly input: unknown; readonly output: Data } | undefined;
  };
}
/** What the validation of a schema returns. */
export type SchemaResult<Data> =
  | { readonly value: Data; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };
/** What does not fit a schema. */
export interface SchemaIssue {
  /** Says what is wrong. */
  readonly message: string;
  /** Where in the data. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** By event: a schema that its data must fit, or `true` for an event that is only declared. */
export type EventSchemas<Events extends object> = {
  readonly [Name in keyof Events]?: StandardSchema<Events[Name]> | true;
};

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

/**
 * Checks the declared events, and returns the schemas by event.
 * @param owner the function that they were passed to, such as "createReceiver"
 * @throws TypeError
 */
export function schemasByEvent(
  owner: string,
  events: EventSchemas<object> = {},
): ReadonlyMap<string, StandardSchema | true> {
  const declared = Object.entries(events as Readonly<Record<string, StandardSchema | true>>);
  for (const [event, schema] of declared)
    if (schema !== true && typeof schema?.["~standard"]?.validate !== "function")
      throw new TypeError(
        `${owner}: the schema of "${event}" is not one of a library that implements Standard Schema, such as Zod, Valibot or ArkType. ` +
          "Pass one of those, or true.",
      );
  return new Map(declared);
}

/** Returns the data as the schema gives it. @throws InvalidDataError */
export async function validData(schema: StandardSchema, event: string, data: unknown): Promise<unknown> {
  const result = await schema["~standard"].validate(data);
  if (result.issues) throw new InvalidDataError(event, result.issues);
  return result.value;
}

function placeOf({ path = [] }: SchemaIssue): string {
  const names = path.map((part) => String(typeof part === "object" ? part.key : part));
  return names.join(".").slice(0, 100) || "its root";
}
