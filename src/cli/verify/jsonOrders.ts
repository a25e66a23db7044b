import type { JsonText } from "../../shared/jsonText";

/** How many orders of the names in a body are tried. With more, none is. */
const MOST_ORDERS = 20_000;

/**
 * Generates JSON with the names of its objects in every other order. What parses JSON into a map, as Go and Rust do, or PostgreSQL's jsonb,
 * writes the names sorted, and nothing tells how they were.
 */
export function* otherOrders(json: JsonText): Generator<JsonText> {
  const total = ordersOf(json);
  if (total > MOST_ORDERS) return;
  for (let number = 1; number < total; number += 1) yield ordered(json, { rest: number });
}

/** Returns in how many orders the names may stand. */
function ordersOf(json: JsonText): number {
  if (json.kind === "array") return productOf(json.items.map(ordersOf));
  if (json.kind !== "object") return 1;
  return json.members.reduce((product, { value }, at) => product * (at + 1) * ordersOf(value), 1);
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
