import { interruptedRun } from "../../../src/cli/recovery/interruptedRun";
import type { HistoryEntry } from "../../../src/endpoint/witness/history";

const at = (seconds: number) => Date.parse("2026-01-01T12:00:00Z") + seconds * 1000;
const time = (seconds: number) => new Date(at(seconds)).toISOString();

/** A stack that was made at 0 s, whose state a run last wrote then. */
const stateWritten = (seconds: number) => ({
  resources: [{ urn: "urn:stack", type: "pulumi:pulumi:Stack", created: time(0) }],
  manifest: { time: time(seconds) },
});

const ran = (from: number, to: number, more: Partial<HistoryEntry> = {}): HistoryEntry => ({
  kind: "update",
  result: "succeeded",
  startTime: time(from),
  endTime: time(to),
  ...more,
});

it.each<[string, number, HistoryEntry | HistoryEntry[], number, number]>([
  [
    "a state written after the last run is of a killed run, which began after that",
    20,
    ran(5, 10),
    at(10),
    at(20),
  ],
  ["a killed run may follow one that failed", 20, ran(5, 10, { result: "failed" }), at(10), at(20)],
  [
    "an up that failed may be the interrupted run itself",
    9.5,
    ran(5, 10, { result: "failed" }),
    at(5),
    at(11),
  ],
  [
    "the history holds whole seconds, so the last run may have written the state in its last second",
    10.9,
    ran(5, 10, { result: "failed" }),
    at(5),
    at(11),
  ],
  [
    "an up without an end was interrupted",
    9,
    { kind: "update", result: "in-progress", startTime: time(5) },
    at(5),
    at(9),
  ],
  [
    "a run that succeeded came after the interrupted run, whose time is unknown",
    9.5,
    ran(5, 10),
    Number.POSITIVE_INFINITY,
    at(5),
  ],
  [
    "a refresh registers nothing, so the interrupted run came before it",
    9.5,
    ran(5, 10, { kind: "refresh", result: "failed" }),
    Number.POSITIVE_INFINITY,
    at(5),
  ],
  [
    "a run that began after the state was written has registered nothing",
    20,
    [ran(30, 31, { result: "failed" }), ran(5, 10)],
    at(10),
    at(20),
  ],
])("%s", (_, written, last, from, until) => {
  expect(interruptedRun(stateWritten(written), [last].flat(), at(100))).toEqual({
    notBefore: at(0),
    from,
    until,
  });
});

it("a stack without history was in its first run, unless its resources are much older", () => {
  expect(interruptedRun(stateWritten(20), [], at(100))).toEqual({
    notBefore: at(0),
    from: at(0),
    until: at(20),
  });
  const imported = interruptedRun(stateWritten(86_400), [], at(90_000));
  expect(imported.from).toBe(Number.POSITIVE_INFINITY);
  expect(interruptedRun({}, [], at(100)).from).toBe(Number.POSITIVE_INFINITY);
});

it("a state without a time may have been written until now", () => {
  expect(interruptedRun({}, [], at(100)).until).toBe(at(100));
});

it("a long history may hide when the interrupted run began", () => {
  const later = Array.from({ length: 20 }, () => ran(30, 31));
  expect(interruptedRun(stateWritten(20), later, at(100)).from).toBe(Number.POSITIVE_INFINITY);
  expect(interruptedRun(stateWritten(20), later.slice(1), at(100)).from).toBe(at(0));
});
