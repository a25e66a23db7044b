import { join } from "node:path";
import { type Emulator, startEmulator } from "../../src/emulator";
import { API_KEY } from "./httpService";
import { allAt, Project } from "./project";

jest.setTimeout(300_000);

const command = join(__dirname, "../../dist/cli/main.js");
const PATHS = ["a", "b", "c", "d", "e", "f"];

let emulator: Emulator;
let project: Project;
beforeEach(async () => {
  emulator = await startEmulator({ apiKey: API_KEY });
  project = new Project({ config: { "webhooks:baseUrl": emulator.url, "webhooks:apiKey": API_KEY } });
});
afterEach(async () => {
  project.dispose();
  await emulator.close();
});

const run = async (...args: string[]) => project.run(process.execPath, command, ...args);
const ids = () => emulator.endpoints().map(({ id }) => id);

test("while a colleague's up runs, doctor says to wait, nothing of it is deleted or adopted, and afterwards all is in order", async () => {
  await project.succeed("stack", "ls");
  project.declare(allAt(PATHS), 'exports.receiver = "none";');
  const stray = emulator.add({
    url: "https://hooks.example.com/stray",
    type: "production",
    createdAt: new Date(Date.now() - 7_200_000).toISOString(),
  });
  // Slower than the commands beside it: they end before the run does.
  emulator.fault({ operation: "register", kind: "delay", delayMs: 9_000, times: PATHS.length });
  const registering = new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      if (!emulator.requests.some(({ method }) => method === "POST")) return;
      clearInterval(timer);
      resolve();
    }, 50);
  });
  const up = project.up();
  await registering;
  const [doctor, deleted, adopted] = await Promise.all([
    run("doctor"),
    run("delete", "--orphans", "--older-than", "0s", "--yes"),
    run("adopt"),
  ]);
  await up;
  expect(doctor.output).toMatch(
    /^note: a run of the stack dev is under way: the process \d+ of \S+@\S+, since .*\(RUN_UNDER_WAY\)\n {2}# wait until it has ended/m,
  );
  expect(doctor.output).not.toMatch(/pulumi cancel|interrupted|^ {2}pulumi/m);
  expect(doctor.exitCode).toBe(0);
  expect(deleted.stdout).toMatch(new RegExp(`^Deleted ${stray.id}\n1 endpoint deleted, 0 kept`, "m"));
  expect(adopted.stdout).not.toMatch(/hooks\.example\.com\/[a-f]"/);
  expect(ids()).toHaveLength(PATHS.length);
  expect(Object.values(project.ids()).sort()).toEqual(ids().sort());
  const after = await run("doctor");
  expect(after.output).toMatch(/Everything that was checked is in order/);
});
