import { CodedError } from "../shared/codedError";
import { checkFunctions } from "./checks";
import { isThenable } from "./deadline";

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

/** How many places a message names. */
const MOST_PLACES = 5;

/** A delivery's data does not fit the schema of its event. */
export class InvalidDataError extends CodedError<"INVALID_DATA"> {
  override readonly name = "InvalidDataError";
  readonly #issues: readonly SchemaIssue[];

  constructor(event: string, issues: readonly SchemaIssue[]) {
    super(
      "INVALID_DATA",
      `The data of "${event}" does not fit its schema${placesOf(issues)}. See the error's issues.`,
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
  events: EventSchemas<object> | undefined = {},
): ReadonlyMap<string, StandardSchema | true> {
  const declared = Object.entries(events as Readonly<Record<string, StandardSchema | true>>);
  const advice =
    "Pass a schema of a library that implements Standard Schema, such as Zod, Valibot or ArkType, or true.";
  // A schema may be a function with properties, as ArkType's are.
  for (const [event, schema] of declared)
    if (schema !== true)
      checkFunctions(`${owner}: the schema of "${event}"`, schema?.["~standard"], {
        functions: ["validate"],
        advice,
      });
  return new Map(declared);
}

/** Returns the data as the schema gives it, or a promise of it. @throws InvalidDataError */
export function validData(schema: StandardSchema, event: string, data: unknown): unknown {
  const checked = schema["~standard"].validate(data);
  const read = (result: SchemaResult<unknown>) => {
    if (result.issues) throw new InvalidDataError(event, result.issues);
    return result.value;
  };
  return isThenable(checked) ? Promise.resolve(checked).then(read) : read(checked);
}

/** Returns the end of a sentence that says where the issues are. Empty if there is none. */
function placesOf(issues: readonly SchemaIssue[]): string {
  const places = new Set(issues.map(placeOf));
  return places.size === 0 ? "" : `, at ${[...places].slice(0, MOST_PLACES).join(", ")}`;
}

function placeOf({ path = [] }: SchemaIssue): string {
  const names = path.map((part) => String(typeof part === "object" ? part.key : part));
  return names.length === 0 ? "its root" : names.join(".").slice(0, 100);
}
