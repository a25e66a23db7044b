import { Command } from "commander";
import { programFolder } from "../../settlement/stackName";
import { type InventoryFlags, inventoryCommand, inventoryOptions, projectOnlyOption } from "../flags";
import type { Output } from "../oldOutput";
import { EXIT, endsByItself } from "../oldRun";
import { type Diagnosis, diagnose } from "./diagnose";
import type { ShownSetting } from "./settings";

/** How many stacks are named. */
const MAX_NAMED = 10;

export function doctorCommand(): Command {
  const command = new Command("doctor")
    .summary("check the settings, the service and the stacks, and say what to do")
    .description(
      "Checks where each setting comes from, whether the service answers and accepts the key, the clocks, the versions, and what the " +
        "stacks recorded. It changes nothing. Each finding has a remedy.",
    );
  return inventoryCommand(command.addOption(projectOnlyOption()), {
    exit: { [EXIT.yes]: "there is no error; there may be notes", [EXIT.no]: "there is an error" },
    examples: ["doctor", "doctor --stack prod --project-only --json"],
  }).action(
    endsByItself(async (flags: InventoryFlags) => {
      const options = inventoryOptions(flags);
      const environment = process.env;
      const diagnosis = await diagnose({
        ...options,
        environment,
        folder: programFolder(environment),
        now: Date.now,
      });
      print(diagnosis, options.output);
      return diagnosis.findings.some(({ level }) => level === "error") ? EXIT.no : EXIT.yes;
    }),
  );
}

function print(diagnosis: Diagnosis, output: Output): void {
  const { settings, service, stacks, versions, findings } = diagnosis;
  output.data(diagnosis, () => {
    output.table(
      ["SETTING", "VALUE", "FROM"],
      Object.entries(settings).map(([name, setting]) => [
        name,
        shownValue(setting),
        setting.name ?? (setting.value === null ? "-" : "default"),
      ]),
    );
    output.line();
    output.table(
      ["CHECK", "RESULT"],
      [
        ["service reachable", answer(service.reachable)],
        ["key accepted", answer(service.keyAccepted)],
        ["clock difference", shown(service.clockDifferenceSeconds, " s")],
        ["endpoints", shown(service.endpoints)],
        ["stacks read", shownStacks(stacks)],
        ["Node.js", versions.node],
        ["pulumi-webhook-endpoints", versions.package],
        ["Pulumi CLI", shown(versions.pulumi)],
        ["@pulumi/pulumi", versions.sdk ?? "not found"],
      ],
    );
    output.line();
    if (findings.length === 0) output.line("Everything is in order.", "green");
    for (const { level, code, message, remedy } of findings) {
      output.line(`${level}: ${message} (${code})`, level === "error" ? "red" : "yellow");
      output.line(`  ${remedy}`);
    }
  });
}

function shownStacks(names: readonly string[]): string {
  return names.length > MAX_NAMED ? String(names.length) : names.join(", ") || "none";
}

function shownValue({ value, from, fingerprint }: ShownSetting): string {
  if (fingerprint !== undefined) return `set, fingerprint ${fingerprint}`;
  return value ?? (from === "default" ? "not set" : "set");
}

function answer(value: boolean | null): string {
  if (value === null) return "unknown";
  return value ? "yes" : "no";
}

function shown(value: number | string | null, unit = ""): string {
  return value === null ? "unknown" : `${value}${unit}`;
}
