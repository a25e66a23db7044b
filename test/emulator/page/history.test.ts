import type { LoggedAttempt, OpenAttempt } from "../../../src/emulator/deliveries/event";
import { Log } from "../../../src/emulator/log";
import { History } from "../../../src/emulator/page/history";

const attempt = (id: string, number = 1): LoggedAttempt => ({ ...opened(id, number), ...RESULT });
const opened = (id: string, number = 1): OpenAttempt => ({
  number,
  at: 0,
  id,
  type: "job.running",
  endpointId: "wh_1",
  url: "https://example.com/",
  attempt: number,
  tampered: false,
  replayed: false,
  headers: { "webhook-id": id, "webhook-timestamp": "0", "webhook-signature": "" },
  body: "",
});
const RESULT = {
  statusCode: 204,
  error: null,
  answer: "",
  answerHeaders: {},
  durationMs: 1,
  retryInMs: null,
};

/** A history of a log, with each delivery as its id and the numbers of its attempts. */
function historyOf(log: Log<LoggedAttempt>, open: OpenAttempt[] = []) {
  const history = new History();
  return (page = 1, size = 10) => {
    const shown = history.page({ logged: log.entries, open }, { page, size });
    const deliveries = shown.deliveries.map(({ attempts }) =>
      [attempts[0].id, ...attempts.map((each) => each.attempt)].join(" "),
    );
    return [...deliveries, `${shown.page}/${shown.pages}`, shown.total];
  };
}

test("a history groups attempts by delivery, newest delivery first, as the log grows", () => {
  const log = new Log<LoggedAttempt>();
  const shown = historyOf(log);
  expect(shown()).toEqual(["1/1", 0]);
  for (const each of [attempt("a"), attempt("b"), attempt("a", 2)]) log.add(each);
  expect(shown()).toEqual(["b 1", "a 1 2", "1/1", 2]);
  log.add(attempt("b", 2));
  log.add({ ...attempt("b"), endpointId: "wh_2" });
  expect(shown()).toEqual(["b 1", "b 1 2", "a 1 2", "1/1", 3]);
});

test("a history shows open attempts at the end of their delivery, or as a new one, until they have a result", () => {
  const log = new Log<LoggedAttempt>();
  log.add(attempt("a"));
  const open = [opened("a", 2), opened("b"), opened("b", 2)];
  const shown = historyOf(log, open);
  expect(shown()).toEqual(["b 1 2", "a 1 2", "1/1", 2]);
  open.length = 0;
  expect(shown()).toEqual(["a 1", "1/1", 1]);
});

test("a history follows a log that was cleared or has dropped its oldest entries", () => {
  const log = new Log<LoggedAttempt>(10);
  const shown = historyOf(log);
  for (let n = 1; n <= 10; n += 1) log.add(attempt(`d${n}`));
  expect(shown(1, 2)).toEqual(["d10 1", "d9 1", "1/5", 10]);
  log.add(attempt("d11"));
  expect(shown(5, 2)).toEqual(["d3 1", "d2 1", "5/5", 10]);
  log.clear();
  log.add(attempt("x"));
  expect(shown()).toEqual(["x 1", "1/1", 1]);
});

test("a page out of range is the nearest one", () => {
  const log = new Log<LoggedAttempt>();
  for (let n = 1; n <= 5; n += 1) log.add(attempt(`d${n}`));
  const shown = historyOf(log);
  expect(shown(3, 2)).toEqual(["d1 1", "3/3", 5]);
  for (const page of [9, Number.POSITIVE_INFINITY, 3.9]) expect(shown(page, 2)).toEqual(shown(3, 2));
  for (const page of [0, -1, Number.NEGATIVE_INFINITY]) expect(shown(page, 2)).toEqual(shown(1, 2));
});
