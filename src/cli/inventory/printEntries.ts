import { describeAge } from "../duration";
import type { Context } from "../run";
import type { Entry } from "./inventory";

export function printTable({ output }: Context, entries: readonly Entry[]): void {
  const rows = entries.map(({ endpoint: { id, type }, ageMs, shownUrl, owner }) => [
    ...[id, type, describeAge(ageMs), shownUrl, owner.shown],
  ]);
  output.table(["ID", "TYPE", "AGE", "URL", "MANAGED BY"], rows);
  const hidden = entries.filter(({ endpoint, shownUrl }) => endpoint.url !== shownUrl);
  const mayBeOthers = hidden.some(({ owner }) => owner.kind === "unknown");
  const hint = ", or a stack that was not read may. `list --all` reads every stack";
  if (hidden.length > 0)
    output.note(`Only the host of a url is shown if a stack keeps it as a secret${mayBeOthers ? hint : ""}.`);
}

/** Returns an entry as `--json` prints it. Its owner is null for an orphan, and only for an orphan. */
export function dataOf({ endpoint: { id, type, createdAt, updatedAt }, shownUrl, owner }: Entry): object {
  const { kind, by, shown } = owner;
  const resources = by.map(({ stack, resource }) => ({ stack: stack.name, urn: resource.urn }));
  const somebody = kind === "unknown" ? { kind, why: shown } : { kind, resources };
  const data = kind === "nobody" ? null : somebody;
  return { id, url: shownUrl, type, createdAt, updatedAt, owner: data };
}
