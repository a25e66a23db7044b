import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { checked, clock, URL } from "./support";

interface Row {
  readonly id: string;
  url: string;
  readonly type: string;
  readonly createdAt: string;
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
  { habit, isPartial = false }: { habit: Habit | undefined; isPartial?: boolean },
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
    const result = await checked({ WEBHOOKS_BASE_URL: baseUrl, WEBHOOKS_API_KEY: KEY });
    return { ...result, deleted };
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

test("an endpoint that a check has moved to its url is not taken for what the check has left", async () => {
  const mark = "019b0000-0000-7000-8000-000000000000"; // December 2025
  const moved = { ...mine(), url: `${URL}?check=${mark}` };
  const { deleted } = await checkedBeside(
    { ...moved, createdAt: "2025-06-01T00:00:00Z" },
    { habit: habits[2] },
  );
  expect(deleted).not.toContain("mine");
  const left = await checkedBeside(moved, { habit: habits[2] });
  expect(left.deleted).toContain("mine");
});

test("an endpoint that the list leaves out is not deleted for being returned", async () => {
  for (const habit of habits.slice(0, 2)) {
    const { deleted, differs } = await checkedBeside(mine(), { habit, isPartial: true });
    expect([deleted, differs]).toEqual([[], ["whole-list", "register"]]);
  }
});
