import fs, {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { EndpointInputs } from "../../src/endpoint/types";
import { Journal } from "../../src/endpoint/witness/journal";
import { rootUrn } from "./witnessWorld";

const inputs: EndpointInputs = { url: "https://hooks.example.com/jobs", type: "production" };
const registration = { before: [], attemptedAt: null, complete: true };

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "webhooks-journal-"));
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(home, { recursive: true, force: true });
});

const origin = { baseUrl: "https://api.example.com", account: "a1b2c3" };
const open = (
  run: string,
  account = origin.account,
  { baseUrl = origin.baseUrl, backend = "file:///backend" } = {},
) =>
  new Journal(run, {
    rootUrn,
    origin: { baseUrl, account },
    environment: { PULUMI_HOME: home, PULUMI_BACKEND_URL: backend },
  });

/** Registers in a journal. */
function register(journal: Journal, id: string, args = inputs): void {
  journal.became(journal.sending(args, registration, Date.now()), id);
}
const openIds = (run: string) =>
  open(run)
    .open(inputs)
    .map(({ id }) => id);

test.each<[string, string]>([
  ["a torn line", '\n{"entry":"torn","run":"x","iden'],
  ["binary garbage", "\n\0\u0001\ufffd{}[]\n\n"],
  ["values that are not entries", '\nnull\n7\n[]\n"x"\n{"entry":7}\n{"entry":"lone","closed":true}'],
])("the journal passes over %s and keeps what stands around it", (_, text) => {
  register(open("run-1"), "before");
  fs.appendFileSync(open("run-1").path ?? "", text);
  register(open("run-1"), "after");
  expect(openIds("run-2")).toEqual(["before", "after"]);
});

test("a line that spoils an entry's fields does not make the journal fail", () => {
  const journal = open("run-1");
  const entry = journal.sending(inputs, registration, Date.now());
  for (const spoilt of [{ registration: null }, { registration: { before: null } }, { id: 7 }, { at: "now" }])
    fs.appendFileSync(journal.path ?? "", `\n${JSON.stringify({ entry, ...spoilt })}`);
  const next = open("run-2");
  expect(next.open(inputs)).toHaveLength(1);
  expect(() => next.took(inputs, "x", Date.now())).not.toThrow();
});

test("a journal that is a folder, or stands below a file, is an empty one", () => {
  const path = open("run-1").path ?? "";
  mkdirSync(path, { recursive: true });
  register(open("run-1"), "x");
  expect(openIds("run-2")).toEqual([]);
  rmSync(dirname(path), { recursive: true });
  writeFileSync(dirname(path), "");
  register(open("run-1"), "x");
  expect(open("run-1").isMadeByThisRun("x")).toBe(false);
});

test("a journal makes its folder again if somebody removes it, but never PULUMI_HOME", () => {
  const journal = open("run-1");
  register(journal, "a");
  rmSync(join(home, "webhook-endpoints"), { recursive: true });
  register(journal, "b");
  expect(openIds("run-2")).toEqual(["b"]);
  rmSync(home, { recursive: true });
  register(journal, "c");
  expect(fs.existsSync(home)).toBe(false);
});

test("a full disk does not make the journal fail, and the run still knows what it wrote", () => {
  const full = () => {
    throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  };
  for (const method of ["appendFileSync", "writeFileSync", "mkdirSync", "renameSync"] as const)
    jest.spyOn(fs, method).mockImplementation(full);
  const journal = open("run-1");
  register(journal, "x");
  journal.seen("x");
  expect(journal.find("x")?.id).toBe("x");
  expect(openIds("run-2")).toEqual([]);
});

test("the journal stays bounded over thousands of registrations, and keeps what a large killed run left open", () => {
  for (let run = 0; run < 12; run++) {
    const journal = open(`run-${run}`);
    for (let made = 0; made < 500; made++) {
      const entry = journal.sending(inputs, registration, run);
      journal.became(entry, `${run}-${made}`);
      journal.close(entry);
    }
  }
  const killed = open("killed");
  for (let made = 0; made < 2_000; made++) register(killed, `killed-${made}`);
  open("run-13");
  open("run-14");
  const path = open("run-15").path ?? "";
  expect(statSync(path).size).toBeLessThan(1024 * 1024);
  expect(openIds("run-16")).toEqual(Array.from({ length: 2_000 }, (_, made) => `killed-${made}`));
  expect(readdirSync(dirname(path))).toHaveLength(1);
});

test("two journals of one stack that are written in turn lose nothing", () => {
  const journals = [open("run-1"), open("run-1")];
  for (let made = 0; made < 50; made++)
    for (const [at, journal] of journals.entries()) register(journal, `${at}-${made}`);
  expect(openIds("run-2")).toHaveLength(100);
});

describe("isMadeByThisRun", () => {
  test("knows what another process of the run has made since, with whichever key, and nothing of other runs", () => {
    const asking = open("run-1");
    expect(asking.isMadeByThisRun("x")).toBe(false);
    const other = open("run-1", "d4e5f6");
    register(other, "x");
    register(open("run-0"), "y");
    expect(asking.isMadeByThisRun("x")).toBe(true);
    expect(asking.isMadeByThisRun("y")).toBe(false);
    other.took(inputs, "z", Date.now());
    expect(asking.isMadeByThisRun("z")).toBe(true);
  });

  test("knows what a line says that was read while it was being written", () => {
    const asking = open("run-1");
    register(open("run-1"), "x");
    const path = asking.path ?? "";
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.slice(0, -10));
    expect(asking.isMadeByThisRun("x")).toBe(false);
    writeFileSync(path, text);
    expect(asking.isMadeByThisRun("x")).toBe(true);
  });

  test("reads the journal once for any number of deletions", () => {
    const earlier = open("run-1");
    for (let made = 0; made < 50; made++) register(earlier, String(made));
    const asking = open("run-2");
    const read = jest.spyOn(fs, "readFileSync");
    for (let made = 0; made < 50; made++) asking.isMadeByThisRun(String(made));
    expect(read).toHaveBeenCalledTimes(1);
  });
});

test("a stack knows what other stacks have registered at the same service, with whichever key", () => {
  const asking = open("run-1");
  const other = open("run-2", "d4e5f6", { backend: "file:///other" });
  register(other, "x");
  register(open("run-1", "d4e5f6"), "own");
  register(
    open("run-3", undefined, { backend: "file:///other", baseUrl: "https://eu.example.com" }),
    "elsewhere",
  );
  expect(["x", "own", "elsewhere"].map((id) => asking.isOfAnotherStack(id))).toEqual([true, false, false]);
  register(other, "y");
  expect(asking.isOfAnotherStack("y")).toBe(true);
});

test("a stack of the same name and login in another folder may be the same one, and does not count as another", () => {
  const inFolder = (folder: string) => {
    jest.spyOn(fs, "realpathSync").mockReturnValue(folder);
    return open("run-1", undefined, { backend: "" });
  };
  register(inFolder("/checkout-1"), "x");
  const asking = inFolder("/checkout-2");
  expect(asking.isOfAnotherStack("x")).toBe(false);
  expect(asking.open(inputs)).toEqual([]);
  expect(open("run-1").isOfAnotherStack("x")).toBe(true);
});

test("an adoption closes no entry of another endpoint that is known by its id", () => {
  register(open("run-1"), "x");
  register(open("run-1"), "y");
  const lost = open("run-1").sending(inputs, registration, Date.now());
  const next = open("run-2");
  next.took(inputs, "x", Date.now());
  expect(openIds("run-3")).toEqual(["y", "x"]);
  expect(next.open(inputs).map(({ entry }) => entry)).not.toContain(lost);
});
