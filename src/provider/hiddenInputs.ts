import type { Context } from "./context";
import type { EndpointInputs } from "./state";

/**
 * What the program's class passes to `check` alone, which strips it: the resource's URN, where the stack is, a secret url. One more, which stays in
 * the state, is `AFTER_INPUT` in `permanent.ts`.
 */
export const URN_INPUT = "__urn";
export const ORGANIZATION_INPUT = "__organization";
export const ROOT_INPUT = "__rootDirectory";
export const SECRET_INPUT = "__urlIsSecret";

/** Notes what the program's class passes to `check` alone. @param willCreate whether the resource is to get an endpoint @returns its URN */
export function noteHiddenInputs(
  { declarations, stack }: Pick<Context, "declarations" | "stack">,
  news: Readonly<Record<string, unknown>>,
  inputs: EndpointInputs,
  willCreate: boolean,
): string | undefined {
  const textOf = (name: string) => (typeof news[name] === "string" && news[name]) || undefined;
  stack.locate({ organization: textOf(ORGANIZATION_INPUT), rootDirectory: textOf(ROOT_INPUT) });
  if (news[SECRET_INPUT] === true) declarations.noteSecretUrl(inputs.url);
  const urn = textOf(URN_INPUT);
  declarations.note(inputs, urn, willCreate);
  return urn;
}
