import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Book } from "../../src/settlement/book";
import { type Entry, isLiving } from "../../src/settlement/entry";
import { thisProcess } from "../../src/shared/processes";

const identity = { url: "https://hooks.example.com/t0ken/jobs", type: "production" } as const;
const other = { ...identity, url: "https://hooks.example.com/t0ken/other" };
const stack = { urn: "urn:pulumi:dev::test::pulumi:pulumi:Stack::test-dev", backend: "file:///backend" };
const anotherStack = { ...stack, backend: "file:///other" };
const sent = { at: 1_000, serviceTime: 2_000, before: ["old"], complete: true };

let home: string;
let warnings: string[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "webhooks-book-"));
  warnings = [];
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const open = (PULUMI_HOME = home) => new Book({ PULUMI_HOME }, (warning) => warnings.push(warning));
const begun = (more: Partial<Pick<Entry, "id" | "sent" | "stack">> = {}) => ({
  stack,
  run: "run-1",
  sender: "sender-1",
  service: "s",
  provider: "p",
  fingerprint: "f",
  ip: "i",
  sent: null,
  id: null,
  createdAt: null,
  adopted: false,
  closed: false,
  ...more,
});
const folder = () => join(home, "webhook-endpoints", "book");
const files = () =>
  readdirSync(folder(), { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
const ids = (like = identity) =>
  open()
    .entriesLike(like)
    .map(({ id }) => id);
const aged = (days: number) => {
  const time = new Date(Date.now() - days * 86_400_000);
  for (const file of files()) utimesSync(file, time, time);
};

test("the book finds the entries of a url and type, in each spelling, and of all stacks", () => {
  const book = open();
  book.begin(begun({ id: "a", sent }), identity);
  book.begin(begun({ id: "b", sent: { ...sent, at: 500 }, stack: anotherStack }), identity);
  book.begin(begun({ id: "c" }), other);
  book.begin(begun({ id: "d" }), { ...identity, type: "development" });
  expect(ids({ ...identity, url: identity.url.replace("hooks", "HOOKS") } as never)).toEqual(["b", "a"]);
});

test("the book finds the entries of a stack, and of no other", () => {
  const book = open();
  book.begin(begun({ id: "a" }), identity);
  book.begin(begun({ id: "b" }), other);
  book.begin(begun({ id: "c", stack: anotherStack }), identity);
  expect(
    open()
      .entriesOf(stack)
      .map(({ id }) => id)
      .sort(),
  ).toEqual(["a", "b"]);
});

test("an entry is changed and closed in its own file, whose name never changes", () => {
  const book = open();
  const entry = book.begin(begun(), identity);
  const before = files();
  book.close(book.change(entry, { sent, id: "a" }));
  expect(files()).toEqual(before);
  expect(open().entriesLike(identity)).toEqual([{ ...entry, sent, id: "a", closed: true }]);
});

test("files hold no url, and only the user can read them", () => {
  open().begin(begun({ id: "a", sent }), identity);
  for (const file of files()) {
    expect(`${file} ${readFileSync(file, "utf8")}`).not.toMatch(/hooks\.example|t0ken|production/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
  }
  expect(statSync(folder()).mode & 0o777).toBe(0o700);
  expect(statSync(join(home, "webhook-endpoints")).mode & 0o777).toBe(0o700);
});

test("an entry of which nothing was sent is removed, and one that was sent or adopted is not", () => {
  const book = open();
  const [unsent, other, adopted] = [begun(), begun(), begun()].map((each) => book.begin(each, identity));
  if (!unsent || !other || !adopted) throw new Error("nothing was begun");
  book.change(other, { sent });
  book.change(adopted, { id: "adopted", adopted: true });
  for (const entry of [unsent, other, adopted]) book.removeUnsent(entry);
  expect(ids()).toEqual(expect.arrayContaining([null, "adopted"]));
  expect(ids()).toHaveLength(2);
});

test.each<[string, (text: string) => string]>([
  ["is torn", (text) => text.slice(0, text.length / 2)],
  ["is empty", () => ""],
  ["holds binary garbage", () => "\0\u0001\ufffd"],
  ["holds a value that is no entry", () => "[7]"],
  ["lacks its stack", (text) => JSON.stringify({ ...JSON.parse(text), stack: undefined })],
  ["lacks what was sent", (text) => JSON.stringify({ ...JSON.parse(text), sent: undefined })],
  [
    "has a list of what was there before that is none",
    (text) => JSON.stringify({ ...JSON.parse(text), sent: { at: 1, before: null } }),
  ],
  ["lacks its process", (text) => JSON.stringify({ ...JSON.parse(text), process: undefined })],
  ["has a number as its id", (text) => JSON.stringify({ ...JSON.parse(text), id: 7 })],
  ["has the name of another file", (text) => JSON.stringify({ ...JSON.parse(text), name: "../../../etc/x" })],
])("a file that %s is skipped, and those around it are read", (_, spoil) => {
  const book = open();
  book.begin(begun({ id: "a", sent }), identity);
  const [file = ""] = files();
  book.begin(begun({ id: "b", sent }), identity);
  writeFileSync(file, spoil(readFileSync(file, "utf8")));
  expect(ids()).toEqual(["b"]);
  expect(
    open()
      .entriesOf(stack)
      .map(({ id }) => id),
  ).toEqual(["b"]);
  expect(warnings).toEqual([]);
});

test("a change of which half was written counts as none, and the next one as whole", () => {
  const book = open();
  const entry = book.begin(begun({ id: "a", sent }), identity);
  const [file = ""] = files();
  appendFileSync(file, `\n${JSON.stringify({ ...entry, id: "b" }).slice(0, -20)}`);
  expect(ids()).toEqual(["a"]);
  book.change(entry, { id: "c" });
  expect(ids()).toEqual(["c"]);
  expect(files()).toEqual([file]);
});

test("files that are not the book's are left alone", () => {
  open().begin(begun({ id: "a" }), identity);
  const [file = ""] = files();
  appendFileSync(join(dirname(file), "note.txt"), "x");
  mkdirSync(join(dirname(file), "folder.json"));
  expect(ids()).toEqual(["a"]);
  expect(open().entriesOf(stack)).toHaveLength(1);
});

test("a folder in the place of an entry's file is skipped", () => {
  const book = open();
  const { name } = book.begin(begun({ id: "a" }), identity);
  const [file = ""] = files();
  rmSync(file);
  mkdirSync(join(dirname(file), name));
  expect(ids()).toEqual([]);
});

test("a closed entry is collected a day after it was closed", () => {
  const book = open();
  book.close(book.begin(begun({ sent, id: "a" }), identity));
  aged(0.9);
  open().entriesOf(stack);
  expect(ids()).toEqual(["a"]);
  aged(1.1);
  open().entriesOf(stack);
  expect(ids()).toEqual([]);
});

test("an open entry is never collected", () => {
  open().begin(begun({ sent, id: "a" }), identity);
  aged(10_000);
  open().entriesOf(stack);
  expect(ids()).toEqual(["a"]);
});

test("a closed entry is not collected while one of its url and type is open, and one of another url does not keep it", () => {
  const book = open();
  book.close(book.begin(begun({ sent, id: "a" }), identity));
  book.begin(begun({ sent, id: "b", stack: anotherStack }), identity);
  book.close(book.begin(begun({ sent, id: "c" }), other));
  aged(2);
  open().entriesOf(stack);
  expect(ids().sort()).toEqual(["a", "b"]);
  expect(ids(other as never)).toEqual([]);
});

test("a book that cannot be written says so in one line, once, and fails nothing", () => {
  writeFileSync(join(home, "webhook-endpoints"), "");
  const book = open();
  const entry = book.begin(begun(), identity);
  book.close(book.change(entry, { id: "a" }));
  book.remove(entry);
  expect(book.entriesLike(identity)).toEqual([]);
  expect(book.entriesOf(stack)).toEqual([]);
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(/^cannot use .*book/);
  expect(warnings[0]).not.toContain("\n");
});

test("a PULUMI_HOME that was removed stays removed", () => {
  const book = open();
  const entry = book.begin(begun(), identity);
  rmSync(home, { recursive: true });
  book.change(entry, { id: "a" });
  book.begin(begun(), identity);
  expect(existsSync(home)).toBe(false);
  expect(warnings).toHaveLength(1);
});

test("the folder of the book is made again if somebody removed it", () => {
  const book = open();
  book.begin(begun({ id: "a" }), identity);
  rmSync(join(home, "webhook-endpoints"), { recursive: true });
  book.begin(begun({ id: "b" }), identity);
  expect(ids()).toEqual(["b"]);
  expect(warnings).toEqual([]);
});

test("a full book says so and keeps working on what it has", () => {
  open().begin(begun({ id: "a" }), identity);
  const [shard = ""] = readdirSync(folder());
  for (let made = 0; made < 20_000; made++) writeFileSync(join(folder(), shard, `${made}.json`), "");
  const book = open();
  book.entriesOf(stack);
  book.begin(begun({ id: "b" }), identity);
  expect(warnings).toEqual([expect.stringMatching(/20000 entries/)]);
  expect(ids()).toEqual(["a"]);
});

test("a crowded book collects the closed entries of other stacks, too", () => {
  const book = open();
  book.close(book.begin(begun({ id: "a", stack: anotherStack }), identity));
  const [shard = ""] = readdirSync(folder());
  aged(2);
  open().entriesOf(stack);
  expect(ids()).toEqual(["a"]);
  for (let made = 0; made < 10_001; made++) writeFileSync(join(folder(), shard, `${made}.json`), "");
  open().entriesOf(stack);
  expect(ids()).toEqual([]);
});

test("an entry lives while its run and its process do", () => {
  const entry = open().begin(begun({ sent }), identity);
  expect(isLiving(entry, "run-1")).toBe(true);
  expect(isLiving(entry, "run-2")).toBe(false);
  expect(isLiving({ ...entry, process: { ...thisProcess(), start: "another" } }, "run-1")).toBe(false);
});
