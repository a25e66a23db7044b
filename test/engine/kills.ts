// Kills an `up` with a create, a replacement and a delete at each of its requests, in every way, and runs a plain `up` after that:
// `npm run kills`, or `npm run kills -- --only 'native.*SIGTERM' --every 10 --at-once 2` for every tenth of the cases whose line matches.
// It prints a line a case, and fails if any ends neither exact nor with a stop that docs/architecture.md names.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Operation } from "../provider/fakeService";
import type { World } from "./httpService";
import * as ends from "./interruption";
import { NativeProject } from "./nativeProject";
import { allAt, at, type Declared, Project } from "./project";

class YamlProject extends NativeProject {
  override declare(endpoints: Declared): void {
    const resources = Object.entries(endpoints).map(([name, properties]) => [
      name,
      { type: "webhooks:WebhookEndpoint", properties },
    ]);
    this.yaml(`resources: ${JSON.stringify(Object.fromEntries(resources))}\n`);
  }
}

const PROVIDERS = { library: Project, native: YamlProject };
const ADOPT = { WEBHOOKS_IF_EXISTS: "adopt" };
const ENVIRONMENTS = { plain: {}, adopt: ADOPT };
const ENDS = {
  "SIGKILL of the engine": ends.sigkillOfTheEngine,
  "SIGKILL of its group": ends.sigkillOfTheGroup,
  "SIGKILL of everything": ends.sigkill,
  "SIGKILL of the plugin": ends.sigkillOfThePlugin,
  SIGINT: ends.ctrlC,
  "SIGINT twice": ends.ctrlCTwice,
  SIGTERM: ends.sigterm,
};
const WHEN: readonly ends.When[] = ["before", "after", "late"];

const BEFORE = allAt(["kept", "replaced", "deleted"]);
const DECLARED = { ...allAt(["kept", "created"]), replaced: at("replaced", { ip: "203.0.113.7" }) };

interface Setting {
  readonly provider: keyof typeof PROVIDERS;
  readonly environment: keyof typeof ENVIRONMENTS;
}

interface Case extends Setting {
  readonly end: keyof typeof ENDS;
  readonly when: ends.When;
  readonly request: number;
  readonly name: string;
}

/** Makes a stack whose next `up` creates, replaces and deletes, beside endpoints of others that are nearly equal. */
async function inStack(
  { provider, environment }: Setting,
  act: (world: World, expectExact: () => void) => Promise<void>,
): Promise<void> {
  await ends.inInterruptedWorld<Project>(
    PROVIDERS[provider],
    { env: ENVIRONMENTS[environment] },
    async (world) => {
      const { project, service } = world;
      const made = Date.now() - 3_600_000;
      const others = [
        service.add({ url: at("theirs").url, made }),
        service.add({ url: at("created").url, type: "development", made }),
      ];
      project.declare(BEFORE);
      await project.up();
      project.declare(DECLARED);
      service.requests.length = 0;
      await act(world, () => service.expectExactly(project, DECLARED, others));
    },
  );
}

/** Returns the requests of an `up` that nothing ends. */
async function requestsOf(setting: Setting): Promise<readonly Operation[]> {
  let operations: readonly Operation[] = [];
  await inStack(setting, async ({ project, service }, expectExact) => {
    await project.up();
    expectExact();
    operations = service.requests.map(({ operation }) => operation);
  });
  return operations;
}

/** Returns the cases of a setting. A list that is carried out late is one that is lost. */
function casesOf(setting: Setting, requests: readonly Operation[]): readonly Case[] {
  const { provider, environment } = setting;
  return (Object.keys(ENDS) as Case["end"][]).flatMap((end) =>
    requests.flatMap((operation, at) =>
      WHEN.filter((when) => when !== "late" || /register|delete/.test(operation)).map((when) => {
        const request = at + 1;
        const name = `${provider}, ${environment}: ${end} ${when} request ${request} (${operation})`;
        return { ...setting, end, when, request, name };
      }),
    ),
  );
}

/** Returns the stop that architecture.md names for such an end ("What stays impossible", 2 and 6). With adoption, there is none. */
function stopOf({ provider, environment, end }: Case): string | undefined {
  if (environment === "adopt") return undefined;
  if (end === "SIGKILL of the plugin") return "ENDPOINT_EXISTS";
  const isInterrupted = end.startsWith("SIGKILL") || end === "SIGINT twice";
  return provider === "native" && isInterrupted ? "REGISTRATION_IN_DOUBT" : undefined;
}

/** Ends an `up`, and returns how the next one ended: exact, or with a stop that is named, after which adoption ends exact. */
async function outcomeOf(tried: Case): Promise<string> {
  let outcome = "exact";
  await inStack(tried, async (world, expectExact) => {
    const { project } = world;
    const { request, when, end } = tried;
    const { killRest } = await ends.interrupt(world, { request, when, operation: "any" }, ENDS[end]);
    const late = sleep(when === "late" ? ends.LATE_MS : 0);
    try {
      // Nothing shows the next `up` that a plugin has died: it may register twice if the service is later than that (2).
      if (end === "SIGKILL of the plugin") await late;
      if (isLocked(project)) await project.succeed("cancel", "--yes");
      const up = ["up", "--yes", "--skip-preview"];
      const { exitCode, output } = await project.pulumi(...up);
      if (exitCode !== 0) {
        const stop = stopOf(tried);
        if (stop === undefined || !output.includes(stop)) throw new Error(output);
        outcome = `stopped with ${stop}, and adoption ended exact`;
        Object.assign(project.env, ADOPT);
        await project.succeed(...up);
      }
      await late;
      expectExact();
    } finally {
      killRest();
    }
  });
  return outcome;
}

function isLocked({ folder }: Project): boolean {
  const locks = join(folder, "backend/.pulumi/locks");
  return (
    existsSync(locks) && readdirSync(locks, { recursive: true }).some((name) => `${name}`.endsWith(".json"))
  );
}

/** Tries a case, and prints its line. Returns whether it passed. */
async function passes(tried: Case): Promise<boolean> {
  const started = Date.now();
  const print = (result: string, outcome: string) => {
    const seconds = Math.round((Date.now() - started) / 1000);
    console.log(`${result} ${tried.name}: ${outcome} (${seconds} s)`);
  };
  try {
    print("ok    ", await outcomeOf(tried));
    return true;
  } catch (error) {
    print("FAILED", error instanceof Error ? error.message : String(error));
    return false;
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: "string", default: "" },
      every: { type: "string", default: "1" },
      "at-once": { type: "string", default: "4" },
    },
  });
  const providers = Object.keys(PROVIDERS) as Setting["provider"][];
  const environments = Object.keys(ENVIRONMENTS) as Setting["environment"][];
  const settings = providers.flatMap((provider) =>
    environments.map((environment) => ({ provider, environment })),
  );
  const requests = await Promise.all(settings.map(requestsOf));
  console.log(`An up sends ${[...new Set(requests.map((each) => each.join(", ")))].join("; or ")}.`);
  const cases = settings.flatMap((setting, at) => casesOf(setting, requests[at] ?? []));
  const matching = cases.filter(({ name }) => new RegExp(values.only).test(name));
  const chosen = matching.filter((_, at) => at % Number(values.every) === 0);
  console.log(`${chosen.length} of ${cases.length} cases.`);
  const left = chosen.values();
  const results: boolean[] = [];
  // Most of the time, a case waits.
  const worker = async () => {
    for (const tried of left) results.push(await passes(tried));
  };
  await Promise.all(Array.from({ length: Number(values["at-once"]) }, worker));
  const passed = results.filter(Boolean).length;
  console.log(`${passed} passed, ${results.length - passed} failed`);
  if (passed < results.length) process.exitCode = 1;
}

void main();
