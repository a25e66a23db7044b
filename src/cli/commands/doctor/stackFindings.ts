import type { Resource } from "../../../provider/facts/exportedState";
import { CLEAR_OPERATIONS, commandFor, quoted } from "../../../shared/commandLine";
import { isPendingId } from "../../../shared/permanent";
import { describeResource, namesOf } from "../../../shared/urn";
import { joined } from "../../../shared/words";
import { RECEIVER_OUTPUT } from "../../../stack/receiverConfigFormat";
import type { Entry } from "../../inventory/inventory";
import { describeWork, unlocking, type Work } from "../../inventory/runUnderWay";
import type { KnownStack, Stacks } from "../../inventory/stacks";
import { NO_CLI, NOT_LOGGED_IN } from "../../pulumi";
import { type Finding, found } from "./finding";
import { describeSuccessors, type Gone, restoring } from "./gone";

/** A line of a program that imports `pulumi`, as what `adopt` writes does. */
export const OUTPUT_LINE =
  `import { receiverConfig } from "pulumi-webhook-endpoints"; export const ${RECEIVER_OUTPUT} = ` +
  'receiverConfig({ secrets: [new pulumi.Config().requireSecret("signingSecret")] });';

/** What to do where there is no stack, by the reason. */
const REMEDIES: Readonly<Record<string, string>> = {
  [NO_CLI]: "curl -fsSL https://get.pulumi.com | sh",
  [NOT_LOGGED_IN]: "pulumi login",
};

/** Returns what to do to have a stack. @param next the rest of a comment */
export function gettingStack({ known, whyNone = "" }: Stacks, next: string): string {
  const own = known.filter(({ isOwn }) => isOwn);
  if (own[0] !== undefined && own.length === 1)
    return `pulumi stack select ${quoted(own[0].name)}   # ${next}`;
  return `${REMEDIES[whyNone] ?? "pulumi stack ls --all"}   # ${next}`;
}

/** @param hasSettings whether the settings could be read. If not, because there is no stack for them, that is a finding already */
export function* gaps(stacks: Stacks, hasSettings: boolean): Generator<Finding> {
  const { unreadable, whyNone } = stacks;
  if (whyNone !== undefined && hasSettings)
    yield found("NO_STACK", {
      message: `${whyNone}, so it is unknown which endpoints no stack has`,
      remedy: gettingStack(stacks, "and run doctor in the folder of a program that has a stack"),
    });
  for (const { stack, why } of unreadable) {
    // Whatever keeps Pulumi from listing the stacks kept it from reading the settings.
    if (stack === undefined && !hasSettings) continue;
    yield found("STACK_UNREADABLE", {
      message: `${why}. Until it can, nothing is deleted or adopted`,
      remedy: stack ? `pulumi stack export --stack ${quoted(stack)}` : "pulumi stack ls --all",
    });
  }
}

/** Finds what runs of a stack left, and what its program lacks. */
export function* stackFindings(
  stack: KnownStack,
  entries: readonly Entry[],
  gone: readonly Gone[],
): Generator<Finding> {
  const { state, deployment, outputs, work, isEmpty } = stack;
  const name = quoted(stack.name);
  // What the state shows is about to change.
  if (work.kind === "under way" || work.kind === "held elsewhere") return yield* workFindings(stack);
  const unlock = unlocking(stack.name, work);
  const up = `${unlock}pulumi up`;
  const again = `${up} --stack ${name}`;
  // Every run of a stack that is locked fails.
  const level = unlock === "" ? "note" : "error";
  const began =
    work.kind === "unknown" ? "a run may be under way, or was interrupted," : "a run was interrupted";
  const pending = state.endpoints.filter(({ id = "" }) => isPendingId(id));
  const operationsThat = (isMeant: (type: string) => boolean) =>
    deployment.pending_operations.filter(({ type }) => isMeant(type)).map(({ resource }) => resource);
  const creations = operationsThat((type) => type === "creating");
  const others = operationsThat((type) => type !== "creating");
  const made = entries.filter(({ owner: { kind, by } }) => kind === "pending" && by[0]?.stack === stack);
  const ids = joined(
    made.map(
      ({ endpoint, owner: { by } }) => `${endpoint.id} (${describeAll(by.map(({ resource }) => resource))})`,
    ),
  );
  const toDelete = made.map(({ endpoint: { id } }) => id);
  const deletion = toDelete.length === 0 ? "" : ` && ${commandFor("delete", toDelete)}`;
  const which = ids && `, and may have made ${ids}`;
  if (pending.length > 0)
    yield found("REGISTRATION_PENDING", {
      message: `the registration of ${describeAll(pending)} got no response${which}`,
      remedy: `${again}   # takes over what was registered, and registers what was not`,
    });
  const cleaning = `${unlock}${CLEAR_OPERATIONS} --stack ${name}${deletion}`;
  if (state.interrupted.length > 0)
    yield found("OPERATION_INTERRUPTED", {
      message: `${began} while it registered ${describeAll(creations)}${which}`,
      // An up would build again what was destroyed.
      ...(isEmpty
        ? {
            remedy: `${cleaning}   # ${workRemark(work)}nothing of this package is left in the stack, as after a destroy`,
            otherwise: `${again}   # instead, to register what the program declares`,
          }
        : {
            remedy: `${again}   # ${workRemark(work)}if this stays, the program no longer declares them: then the next line`,
            otherwise: `${cleaning}   # instead, if nobody wants them; pulumi destroy deletes what the stack has`,
          }),
    });
  else if (creations.length > 0)
    yield found("OPERATION_INTERRUPTED", {
      level,
      message: `a run was interrupted while it registered ${describeAll(creations)}. Nothing of that is open any more`,
      remedy: `${unlock}${CLEAR_OPERATIONS} --stack ${name}`,
    });
  const leaving = state.endpoints.filter(
    ({ id, delete: isLeaving }) => isLeaving && entries.some(({ endpoint }) => endpoint.id === id),
  );
  if (leaving.length > 0 && deployment.pending_operations.length === 0)
    yield found("OPERATION_INTERRUPTED", {
      message: `a run has replaced ${describeAll(leaving)}, and stopped before it deleted ${joined(leaving.map(({ id = "" }) => id))}, so each event is delivered to both`,
      remedy: `${again}   # deletes what was replaced`,
    });
  const lost = gone.filter((each) => each.stack === stack);
  const stopped = others.length > 0 && `${began} while it deleted or read ${describeAll(others)}`;
  const later = `${workRemark(work)}then doctor again, as deletions may end late`;
  const isDeleting = deployment.pending_operations.some(({ type }) => type === "deleting");
  const goingOn = isDeleting && {
    otherwise: `${unlock}pulumi destroy --stack ${name}   # instead, to go on after a killed destroy: it deletes all that the stack has`,
  };
  // One finding, because one command heals both.
  if (lost.length > 0)
    yield found("ENDPOINT_GONE", {
      message: `the service no longer has ${namesOf(lost.map(({ resource }) => resource))}, which the stack ${stack.name} manages${stopped ? `: ${stopped}` : ""}${describeSuccessors(lost)}`,
      remedy: `${restoring(lost, stack)}${stopped ? `; ${later}` : ""}`,
      ...goingOn,
    });
  else if (stopped)
    yield found("OPERATION_INTERRUPTED", {
      level,
      message: stopped,
      remedy: `${up} --refresh --stack ${name}   # ${later}`,
      ...goingOn,
    });
  // A run that did not end has recorded no outputs.
  const hasEnded = pending.length + deployment.pending_operations.length === 0;
  if (hasEnded && deployment.resources.length > 0 && !outputs.includes(RECEIVER_OUTPUT))
    yield found("RECEIVER_OUTPUT_MISSING", {
      message: `the stack ${stack.name} has endpoints and no output "${RECEIVER_OUTPUT}", from which receivers, send and verify take their secrets`,
      remedy: `pulumi up --stack ${name}   # unless the program lacks it: ${OUTPUT_LINE}`,
    });
}

/** Says what a run that may be under way is doing. No command can be pasted: what works would undo that run. */
function* workFindings({ name, work, deployment }: KnownStack): Generator<Finding> {
  const open = describeAll(deployment.pending_operations.map(({ resource }) => resource));
  const what = open && `. Not done yet: ${open}`;
  yield work.kind === "under way"
    ? found("RUN_UNDER_WAY", {
        message: `${describeWork(name, work)}${what}`,
        remedy: "# wait until it has ended, and run doctor again",
      })
    : found("STACK_LOCKED", {
        message: `${describeWork(name, work)}${what}`,
        remedy: `# wait until it has ended. If it was killed there, "pulumi cancel" removes the lock; then run doctor again`,
      });
}

/** Pulumi itself says who holds a lock that nobody can see here. */
function workRemark({ kind }: Work): string {
  return kind === "unknown" ? "if it says that the stack is locked, wait for that run; " : "";
}

function describeAll(resources: readonly Resource[]): string {
  return joined([...new Set(resources.map((each) => describeResource(each)))]);
}
