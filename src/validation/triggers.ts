import { types } from "node:util";
import * as pulumi from "@pulumi/pulumi";

/** What to pass instead of some kinds of objects. */
const ADVICE: Readonly<Record<string, string>> = {
  Map: "Pass Object.fromEntries(map)",
  Set: "Pass an array, such as [...set]",
};

/**
 * Returns triggers as the state keeps them: a date becomes a string in ISO 8601. Pulumi would turn a Map, a function and most other
 * objects into `{}` or nothing without a word, and no change of them would ever show.
 *
 * @param name what to call the value in a message, which does not repeat the value itself
 * @throws RunError for a value that cannot be compared. Of what is known only later, the output fails with it
 */
export function comparable(value: unknown, name: string, around: readonly unknown[] = []): unknown {
  if (value === undefined || value === null) return value;
  if (pulumi.Output.isInstance(value)) return value.apply((known) => comparableLater(known, name));
  if (types.isPromise(value)) return value.then((known) => comparableLater(known, name));
  if (types.isDate(value) && !Number.isNaN(value.getTime())) return value.toISOString();
  if (around.includes(value)) throw new pulumi.RunError(`${name} contains itself, so it cannot be compared.`);
  const inside = [...around, value];
  if (Array.isArray(value)) return value.map((each, at) => comparable(each, `${name}[${at}]`, inside));
  if (isPlainObject(value)) {
    const entries = Object.entries(value).map(([key, each]) => [
      key,
      comparable(each, `${name}.${key}`, inside),
    ]);
    return Object.fromEntries(entries);
  }
  if (isPassedOn(value)) return value;
  throw new pulumi.RunError(
    `${name} is ${describe(value)}, of which Pulumi cannot see a change. ` +
      `${ADVICE[constructorOf(value)] ?? "Pass a string, number, boolean or Date, or an array or plain object of them"}.`,
  );
}

/** The same for a value that was not known at first: an error that is thrown this late would be printed with its stack. */
function comparableLater(value: unknown, name: string): unknown {
  try {
    return comparable(value, name);
  } catch (error) {
    throw Object.assign(error as Error, { stack: "" });
  }
}

/** Returns whether Pulumi sees a change of a value as it is. */
function isPassedOn(value: unknown): boolean {
  return (
    typeof value === "string" ||
    typeof value === "boolean" ||
    Number.isFinite(value) ||
    pulumi.Resource.isInstance(value) ||
    pulumi.asset.Asset.isInstance(value) ||
    pulumi.asset.Archive.isInstance(value)
  );
}

/** Returns whether a value is an object that no class made, in whatever realm. */
function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function describe(value: unknown): string {
  if (typeof value === "number") return String(value);
  if (types.isDate(value)) return "an invalid Date";
  return typeof value === "object" ? `an instance of ${constructorOf(value)}` : `a ${typeof value}`;
}

function constructorOf(value: unknown): string {
  return Object(value).constructor?.name || "a class";
}
