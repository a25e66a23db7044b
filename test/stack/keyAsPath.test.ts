import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readCapture } from "../../src/cli/capture";
import { reporter } from "../../src/cli/commands/listen/report";
import { Output } from "../../src/cli/output";
import { startEmulator } from "../../src/emulator";
import { receiverFromFile, receiverFromStack } from "../../src/stack";
import { leaked, thrownBy } from "./support";

const KEY = "MfKQ9r8G/KYqrTwjU/PD8ILPZI/o2LaLaSw";
const options = { handlers: {}, onUnhandled() {} };
const home = process.cwd();
let folder: string;

beforeEach(() => {
  // With a dot in its name, a key that is resolved in it has the look of a file's path.
  folder = mkdtempSync(join(tmpdir(), "jane.doe-"));
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(home);
  rmSync(folder, { recursive: true });
});

describe.each([
  ["as it is", KEY],
  ["with the slashes of Windows", KEY.replaceAll("/", "\\")],
  ["in this folder", `./${KEY}`],
  ["in this folder on Windows", `.\\${KEY.replaceAll("/", "\\")}`],
])("a key that is passed as a path, %s, is shown in no part", (_how, path) => {
  test.each<[by: string, failing: () => unknown]>([
    ["receiverFromFile", () => receiverFromFile({ path }, options)],
    ["receiverFromStack", () => receiverFromStack({ stackName: "dev", workDir: path }, options)],
    ["startEmulator", () => startEmulator({ dataFile: `${path}/a` })],
    [
      "startEmulator, where a folder is",
      () => {
        mkdirSync(path, { recursive: true });
        return startEmulator({ dataFile: path });
      },
    ],
    ["verify and send", () => readCapture(path)],
  ])("by %s", async (_by, failing) => {
    const error = await thrownBy(failing);
    expect(error).toMatchObject({ code: expect.stringMatching(/^[A-Z]+_[A-Z_]+$/) });
    expect(leaked(error, KEY.split("/"))).toEqual([]);
  });

  test("by listen", () => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "");
    const printed: string[] = [];
    const sink = { write: (text: string) => printed.push(text) };
    const event = { path: "/jobs", id: null, event: null, jobId: null, bytes: 0 };
    const summary = { ...event, verdict: "verified", tried: [], isRefused: false, status: 200 };
    const arrival = {
      headers: [],
      body: Buffer.alloc(0),
      at: new Date(),
      forwarded: undefined,
      isReplay: false,
    };
    const output = new Output({ json: false, stdout: sink, stderr: sink, env: {} });
    reporter(output, path)({ ...arrival, summary });
    expect(printed.join("")).toContain("warning: cannot save a capture in");
    expect(leaked(printed.join(""), KEY.split("/"))).toEqual([]);
  });
});
