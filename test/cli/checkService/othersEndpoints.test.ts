import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { newCheck } from "../../../src/cli/checkService/endpoints";
import { checked, clock, URL } from "./support";

interface Row {
  readonly id: string;
  url: string;
  readonly type: string;
  readonly createdAt: string | null;
}

/** How a service that keeps one endpoint answers a registration, when it has one already. */
type Habit =
  | "returns the one of the same url without its query"
  | "shows the new url for it, and keeps the old one"
  | "moves it to the new url";

const KEY = "keeps-one-endpoint-52";
const pathOf = (url: string) => url.split("?")[0];

/** Runs a check at a service that has an endpoint of somebody's, and returns what the service has afterwards. */
async function checkedBeside(
  mine: Row,
  {
    habit,
    isPartial = false,
    checks = 1,
  }: { habit: Habit | undefined; isPartial?: boolean; checks?: number },
) {
  const rows = [mine];
  const deleted: string[] = [];
  const register = ({ url, type }: Row): Row => {
    const same = rows.find((row) => pathOf(row.url) === pathOf(url));
    if (same === undefined) {
      const row = { id: `new_${rows.length}`, url, type, createdAt: new Date(clock.date()).toISOString() };
      rows.push(row);
      return row;
    }
    if (habit === "moves it to the new url") same.url = url;
    return habit === "shows the new url for it, and keeps the old one" ? { ...same, url } : same;
  };
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    const answer = (status: number, value?: unknown) =>
      response.writeHead(status, { date: new Date(clock.date()).toUTCString() }).end(JSON.stringify(value));
    if (request.headers["x-api-key"] !== KEY) return answer(401);
    const id = request.url?.split("/")[2];
    const row = rows.find((each) => each.id === id);
    if (request.method === "POST") return answer(200, register(JSON.parse(body)));
    if (id === undefined)
      return answer(200, isPartial ? { data: rows.slice(1), has_more: true } : { data: rows });
    if (row === undefined) return answer(404);
    if (request.method === "GET") return answer(200, row);
    deleted.push(row.id);
    rows.splice(rows.indexOf(row), 1);
    return answer(204);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const environment = { WEBHOOKS_BASE_URL: baseUrl, WEBHOOKS_API_KEY: KEY };
    for (let before = 1; before < checks; before += 1) await checked(environment);
    const questions: string[] = [];
    const ask = async (lines: readonly string[]) => questions.push(...lines) > 0;
    return { ...(await checked(environment, { ask })), deleted, question: questions.join("\n") };
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}

const mine = () => ({ id: "mine", url: URL, type: "development", createdAt: "2026-01-01T00:00:00Z" });
const habits: Habit[] = [
  "returns the one of the same url without its query",
  "shows the new url for it, and keeps the old one",
  "moves it to the new url",
];

test.each(habits)("a service that keeps one endpoint and %s, keeps it after a check", async (habit) => {
  const { ended, differs, clauses, deleted } = await checkedBeside(mine(), { habit });
  expect([ended, differs, deleted]).toEqual(["differs", ["register"], []]);
  expect(clauses.register?.cameBack).toMatch(/with mine, which may be somebody's: it stays/);
});

const MARKED_AT = Date.parse("2026-01-01T00:00:00Z");
const marked = (createdAt: string | null) => ({
  ...mine(),
  url: `${URL}?check=${newCheck(MARKED_AT)}`,
  createdAt,
});
const seconds = (count: number) => new Date(MARKED_AT + count * 1_000).toISOString();

test.each([null, "2026-01-01 00:00:00", "year 1", "2020-01-01", "2025-12-31T23:00:00Z"])(
  "the second check too keeps an endpoint that the first has moved, which was created at %j",
  async (createdAt) => {
    const moving = { habit: habits[2], checks: 2 };
    const { ended, deleted, question } = await checkedBeside({ ...mine(), createdAt }, moving);
    expect([ended, deleted]).toEqual(["differs", []]);
    expect(question).toMatch(/mine stays, although its url has the mark of a check: .* may be somebody's/);
    expect(question).not.toContain("It also deletes");
  },
);

test.each([null, "2026-01-01T00:00", seconds(-30)])(
  "an endpoint with a check's mark that was created at %j is kept, because nothing shows that the check made it",
  async (createdAt) => {
    expect((await checkedBeside(marked(createdAt), { habit: habits[2] })).deleted).not.toContain("mine");
  },
);

test.each([seconds(-3), seconds(0), seconds(30)])(
  "an endpoint with a check's mark that was created at %s is what an interrupted check left, and is deleted",
  async (createdAt) => {
    const { deleted, question } = await checkedBeside(marked(createdAt), { habit: habits[2] });
    expect(deleted).toContain("mine");
    expect(question).toContain("It also deletes what an interrupted check has left: mine.");
  },
);

test("an endpoint that the list leaves out is not deleted for being returned", async () => {
  for (const habit of habits.slice(0, 2)) {
    const { deleted, differs } = await checkedBeside(mine(), { habit, isPartial: true });
    expect([deleted, differs]).toEqual([[], ["whole-list", "register"]]);
  }
});
