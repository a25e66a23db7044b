import { Command } from "commander";
import { type Diagnosis, diagnose } from "./diagnosis/diagnose";
import type { ShownSetting } from "./diagnosis/settings";
import { alsoStackOption, type InventoryFlags, jsonOption, stackOption } from "./flags";
import { Output } from "./output";
import { Pulumi } from "./pulumi";
import { EXIT, endsByItself, exitHelp } from "./run";

export function doctorCommand(): Command {
  return new Command("doctor")
    .summary("check the settings, the service and the stacks, and say what to do")
    .description(
      "Checks where each setting comes from, whether the service answers and accepts the key, the clocks, the versions, and what the " +
        "stacks recorded. It changes nothing. Each finding has a remedy.",
    )
    .addOption(stackOption())
    .addOption(alsoStackOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `${exitHelp({
        [EXIT.yes]: "there is no error; there may be notes",
        [EXIT.no]: "there is an error",
        [EXIT.interrupted]: "Ctrl-C ended it",
      })}
Examples:
  $ npx webhook-endpoints doctor
  $ npx webhook-endpoints doctor --stack prod --json`,
    )
    .action(
      endsByItself(async ({ stack, alsoStack, json }: InventoryFlags) => {
        const diagnosis = await diagnose({
          pulumi: new Pulumi(stack),
          alsoStacks: alsoStack,
          environment: process.env,
          folder: process.cwd(),
          now: Date.now,
        });
        print(diagnosis, new Output({ json }));
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
        ["stacks read", stacks.join(", ") || "none"],
        ["Node.js", versions.node],
        ["pulumi-webhook-endpoints", versions.package],
        ["Pulumi CLI", versions.pulumi ?? "not found"],
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

function shownValue({ value, from, fingerprint }: ShownSetting): string {
  if (fingerprint !== undefined) return `set, fingerprint ${fingerprint}`;
  return value ?? (from === "default" ? "not set" : "set");
}

function answer(value: boolean | null): string {
  if (value === null) return "unknown";
  return value ? "yes" : "no";
}

function shown(value: number | null, unit = ""): string {
  return value === null ? "unknown" : `${value}${unit}`;
}
