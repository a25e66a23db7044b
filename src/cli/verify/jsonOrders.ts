import type { JsonText } from "../../shared/jsonText";

/**
 * How many orders are tried of names that are not sorted. With more, none is: such names probably stand as they were sent. As many are tried
 * together with ways to write the numbers.
 */
export const MOST_ORDERS = 20_000;

type Order = (left: string, right: string) => boolean;

const ALPHABETICAL: Order = (left, right) => left <= right;
const BY_LENGTH: Order = (left, right) =>
  left.length < right.length || (left.length === right.length && left <= right);

/**
 * Generates JSON with the names of its objects in every other order. What parses JSON into a map, as Go and Rust do, or PostgreSQL's jsonb,
 * writes the names sorted, and nothing tells how they were.
 */
export function* otherOrders(json: JsonText): Generator<JsonText> {
  const total = ordersOf(json);
  if (total > MOST_ORDERS && ![ALPHABETICAL, BY_LENGTH].some((order) => isSorted(json, order))) return;
  for (let number = 1; number < total; number += 1) yield ordered(json, { rest: number });
}

/** Returns in how many orders the names may stand. */
export function ordersOf(json: JsonText): number {
  if (json.kind === "array") return productOf(json.items.map(ordersOf));
  if (json.kind !== "object") return 1;
  return json.members.reduce((product, { value }, at) => product * (at + 1) * ordersOf(value), 1);
}

function isSorted(json: JsonText, order: Order): boolean {
  if (json.kind === "array") return json.items.every((item) => isSorted(item, order));
  if (json.kind !== "object") return true;
  return json.members.every(
    ({ name, value }, at, { [at + 1]: next }) =>
      (next === undefined || order(name, next.name)) && isSorted(value, order),
  );
}

function productOf(numbers: readonly number[]): number {
  return numbers.reduce((product, each) => product * each, 1);
}

/** Takes from the number of an order what it says about each object. */
function ordered(json: JsonText, number: { rest: number }): JsonText {
  if (json.kind === "array") return { kind: "array", items: json.items.map((item) => ordered(item, number)) };
  if (json.kind !== "object") return json;
  const left = [...json.members];
  const members = json.members.flatMap(() => {
    const at = number.rest % left.length;
    number.rest = Math.floor(number.rest / left.length);
    return left.splice(at, 1);
  });
  return {
    kind: "object",
    members: members.map(({ name, value }) => ({ name, value: ordered(value, number) })),
  };
}
