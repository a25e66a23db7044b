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
import {
  ADOPT,
  begin,
  ENVIRONMENTS,
  type Environment,
  PROVIDERS,
  type Provider,
  STORIES,
  type Story,
} from "./killStories";
import type { Project } from "./project";

const ENDS = {
  "SIGKILL of the engine": ends.sigkillOfTheEngine,
  "SIGKILL of its group": ends.sigkillOfTheGroup,
  "SIGKILL of everything": ends.sigkill,
  "SIGKILL of the plugin": ends.sigkillOfThePlugin,
  SIGINT: ends.ctrlC,
  "SIGINT twice": ends.ctrlCTwice,
  SIGTERM: ends.sigterm,
};
type EndName = keyof typeof ENDS;
const WHEN: readonly ends.When[] = ["before", "after", "late"];

interface Setting {
  readonly story: Story;
  readonly provider: Provider;
  readonly environment: Environment;
}

/** Where an `up` is ended. */
interface Moment {
  readonly request: number;
  readonly when: ends.When;
}

interface Case extends Setting {
  readonly name: string;
  readonly end: EndName;
  /** One for each `up` that is ended, one after the other. */
  readonly moments: readonly Moment[];
}

async function inStack(
  { story, provider, environment }: Setting,
  act: (world: World, expectExact: () => void) => Promise<void>,
): Promise<void> {
  const options = { env: ENVIRONMENTS[environment] };
  await ends.inInterruptedWorld<Project>(PROVIDERS[provider], options, async (world) => {
    await act(world, await begin(story, world, provider));
  });
}

/** Returns the requests of an `up` that nothing ends. */
async function requestsOf(setting: Setting): Promise<readonly Operation[]> {
  const { flags, relieve } = setting.story;
  let operations: readonly Operation[] = [];
  await inStack(setting, async ({ project, service }, expectExact) => {
    await project.pulumi("up", "--yes", "--skip-preview", ...flags);
    operations = service.requests.map(({ operation }) => operation);
    relieve(service);
    await project.up();
    expectExact();
  });
  return operations;
}

/** Returns the cases of a setting: each moment of the plain `up` in every way, and a choice of the others. A list that is carried out late is lost. */
function casesOf(setting: Setting, requests: readonly Operation[]): readonly Case[] {
  const { story, provider, environment } = setting;
  const named = (end: EndName, moments: readonly Moment[]): Case => {
    const shown = moments.map(({ request, when }) => `${when} request ${request}`).join(", then ");
    const operation = requests[(moments[0]?.request ?? 0) - 1];
    const about = [provider, environment, story.name].filter(Boolean).join(", ");
    return { ...setting, end, moments, name: `${about}: ${end} ${shown} (${operation})` };
  };
  const moments = requests.flatMap((operation, index) =>
    WHEN.filter((when) => when !== "late" || /register|delete/.test(operation)).map((when) => ({
      request: index + 1,
      when,
    })),
  );
  if (story !== STORIES.PLAIN)
    return moments
      .filter(({ when }) => when !== "late")
      .map((moment) => named("SIGKILL of everything", [moment]));
  const once = (Object.keys(ENDS) as EndName[]).flatMap((end) =>
    moments.map((moment) => named(end, [moment])),
  );
  // The second `up` of the native plugin stops at the first request, if the first one registered something.
  const seconds = provider === "native" && environment === "plain" ? [1] : [2, 3];
  const first = requests.indexOf("register") + 1;
  const twice = (["SIGKILL of everything", "SIGINT twice"] as const).flatMap((end) =>
    WHEN.flatMap((when) =>
      seconds.map((request) =>
        named(end, [
          { request: first, when },
          { request, when: "after" },
        ]),
      ),
    ),
  );
  return [...once, ...twice];
}

/** Returns the stop that architecture.md names for such an end ("What stays impossible", 2 and 6). With adoption, there is none. */
function stopOf({ provider, environment, end }: Case): string | undefined {
  if (environment === "adopt") return undefined;
  if (end === "SIGKILL of the plugin") return "ENDPOINT_EXISTS";
  const isInterrupted = end.startsWith("SIGKILL") || end === "SIGINT twice";
  return provider === "native" && isInterrupted ? "REGISTRATION_IN_DOUBT" : undefined;
}

/** Ends each `up`, and returns how the next one ended: exact, or with a stop that is named, after which adoption ends exact. */
async function outcomeOf(tried: Case): Promise<string> {
  let outcome = "exact";
  await inStack(tried, async (world, expectExact) => {
    const { project, service } = world;
    const { end, moments, story } = tried;
    const rest: (() => void)[] = [];
    try {
      let late = Promise.resolve();
      for (const moment of moments) {
        const { flags } = story;
        const ending = ends.interrupt(world, { ...moment, flags, operation: "any" }, ENDS[end]);
        const ended = await ending.catch((error: unknown) => {
          if (!(error instanceof ends.EndedBefore)) throw error;
          outcome = "exact, and ended before that request";
        });
        if (!ended) break;
        rest.push(ended.killRest);
        late = Promise.all([late, sleep(moment.when === "late" ? ends.LATE_MS : 0)]).then(() => {});
        // Nothing shows the next `up` that a plugin has died: it may register twice if the service is later than that (2).
        if (end === "SIGKILL of the plugin") await late;
        if (isLocked(project)) await project.succeed("cancel", "--yes");
      }
      story.relieve(service);
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
      for (const killRest of rest) killRest();
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

/** Tries a case, and prints its line. Returns its outcome; undefined if it failed. */
async function tryOut(tried: Case): Promise<string | undefined> {
  const started = Date.now();
  const print = (result: string, outcome: string) => {
    const seconds = Math.round((Date.now() - started) / 1000);
    console.log(`${result} ${tried.name}: ${outcome} (${seconds} s)`);
  };
  try {
    const outcome = await outcomeOf(tried);
    print("ok    ", outcome);
    return outcome;
  } catch (error) {
    print("FAILED", error instanceof Error ? error.message : String(error));
    return undefined;
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
  const settings = Object.values(STORIES).flatMap((story) =>
    (Object.keys(PROVIDERS) as Provider[]).flatMap((provider) =>
      story.environments.map((environment) => ({ story, provider, environment })),
    ),
  );
  const requests = await Promise.all(settings.map(requestsOf));
  console.log(`An up sends ${[...new Set(requests.map((each) => each.join(", ")))].join("; or ")}.`);
  const cases = settings.flatMap((setting, index) => casesOf(setting, requests[index] ?? []));
  const matching = cases.filter(({ name }) => new RegExp(values.only).test(name));
  const chosen = matching.filter((_, index) => index % Number(values.every) === 0);
  console.log(`${chosen.length} of ${cases.length} cases.`);
  const left = chosen.values();
  const outcomes: (string | undefined)[] = [];
  // Most of the time, a case waits.
  const worker = async () => {
    for (const tried of left) outcomes.push(await tryOut(tried));
  };
  await Promise.all(Array.from({ length: Number(values["at-once"]) }, worker));
  for (const outcome of new Set(outcomes))
    console.log(`${outcomes.filter((each) => each === outcome).length} ${outcome ?? "failed"}`);
  if (outcomes.includes(undefined)) process.exitCode = 1;
}

void main();
