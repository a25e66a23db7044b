import { isPendingId } from "../../src/provider/identity";
import { sameUrl } from "../../src/shared/url";
import { nameOf } from "../../src/shared/urn";
import type { Declared, Problems } from "./engineModel";
import type { Registered } from "./fakeService";
import { PATIENCE_MS, type World } from "./world";

const STOP = /REGISTRATION_IN_DOUBT|ENDPOINT_EXISTS|STILL_PENDING/;

export interface WayOn {
  /** The program with which the person goes on. */
  readonly program: readonly Declared[];
  /** The resource that was stopped. */
  readonly name: string;
  readonly stop: string;
}

/**
 * Follows the ways on that a stop names, for one resource, as a person who knows the service: names its endpoint in `adoptId`, deletes it
 * if the resource has one, or else registers another one on purpose. Returns undefined if no stop is left to be decided.
 *
 * @param others what belongs to somebody else
 */
export async function wayOn(
  world: World,
  program: readonly Declared[],
  { problems, others }: { readonly problems: Problems; readonly others: readonly Registered[] },
): Promise<WayOn | undefined> {
  const stopOf = ({ name }: Declared) =>
    problems.find((problem) => problem.startsWith(`${name}: `) && STOP.test(problem));
  const stopped = program.find((each) => each.args.ifExists === undefined && stopOf(each) !== undefined);
  const stop = stopped && stopOf(stopped);
  if (stopped === undefined || stop === undefined) return undefined;
  // Whoever decides looks at the service, where by then everything is that was asked for.
  await world.time.pass(PATIENCE_MS);
  const { name, args: declared, provider = "" } = stopped;
  const own = world.stack.resources.find(({ urn, delete: gone }) => nameOf(urn) === name && !gone);
  const made = world
    .strangers()
    .find(
      (each) =>
        world.endpointsOf(provider).includes(each) &&
        !others.includes(each) &&
        each.type === declared.type &&
        each.ip === declared.ip &&
        sameUrl(each.url, String(declared.url)),
    );
  if (made && own !== undefined && !isPendingId(own.id)) {
    world.serviceOf(provider).remove(made.id);
    return { program, name, stop };
  }
  const args = { ifExists: "register", ...(made && { adoptId: made.id }), ...declared };
  return { program: program.map((each) => (each === stopped ? { ...each, args } : each)), name, stop };
}

/** Returns whether a message names an endpoint. */
export function names(message: string, { id }: Registered): boolean {
  return new RegExp(`\\b${id}\\b`).test(message);
}
