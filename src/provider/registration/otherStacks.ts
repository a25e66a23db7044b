import type { Endpoint } from "../../client";
import { commandLine, quoted } from "../../shared/commandLine";
import { foreign } from "../../shared/escape";
import { nameOf } from "../../shared/urn";
import { countOf } from "../../shared/words";
import type { Context } from "../context";
import { EndpointError } from "../errors";
import type { Proof } from "../facts/stack";
import type { OtherStacks } from "../facts/stackSource";
import { StackState } from "../facts/stackState";
import { howToMoveHere } from "./waysOn";

/**
 * Looks whether a `WebhookEndpoint` of another stack has an endpoint that a resource is to adopt. What was not read stops nothing, and
 * without a proof that the state is this stack's, nothing is read.
 *
 * @param proof undefined in a `check`, which asks for none
 * @returns the refusal, if one has it; and how much was read, a sentence for the line that says what was adopted: "" if nothing was asked, or
 *   there is nothing else
 */
export async function askOtherStacks(
  endpoint: Endpoint,
  context: Pick<Context, "origin" | "graceMs" | "stack">,
  proof?: Proof,
): Promise<{ readonly taken: EndpointError | undefined; readonly read: string }> {
  const others = await context.stack.othersIfProven(proof);
  return { taken: takenElsewhere(endpoint, others, context), read: describeRead(others) };
}

function takenElsewhere(
  endpoint: Endpoint,
  others: OtherStacks | undefined,
  { origin, graceMs }: Pick<Context, "origin" | "graceMs">,
): EndpointError | undefined {
  if (others === undefined) return undefined;
  for (const [stack, deployment] of others.states) {
    const holder = new StackState(deployment).holderOf(endpoint, { origin, graceMs });
    const isIts = holder?.kind === "own" && holder.resource.outputs?.baseUrl === origin.baseUrl;
    if (holder === undefined || !isIts || holder.resource.delete) continue;
    const { urn } = holder.resource;
    const name = JSON.stringify(nameOf(urn));
    return new EndpointError(
      "ADOPT_TAKEN",
      `cannot adopt endpoint ${foreign(endpoint.id)}: the resource ${name} of the stack ${foreign(stack)} has it, and the first of two stacks that deletes it takes it from the other. Ways on:`,
      {
        ways: [
          `To move it here, ${howToMoveHere({ source: quoted(stack), dest: quoted(others.own), urn: quoted(urn), name: `the name ${name}` })}`,
          'If both need one, declare another url or type here, or set ifExists: "register" for one run: each event is then delivered to both.',
          `To see who has which endpoint, run ${commandLine("get", endpoint.id, " --all")}.`,
        ],
      },
    );
  }
  return undefined;
}

function describeRead(others: OtherStacks | undefined): string {
  if (others === undefined || others.count === 0) return "";
  return `. Read before that: ${others.states.size} of ${countOf(others.count, "other stack")} of this backend`;
}
