#!/usr/bin/env node
import { Command } from "commander";
import { emulatorCommand } from "./emulator";
import { recoverCommand } from "./recover";

const { version }: { version: string } = require("../../package.json");

const program = new Command("webhook-endpoints")
  .description("Recovers webhook endpoints after an interrupted run, and runs an emulator of the service.")
  .version(version)
  .addCommand(recoverCommand())
  .addCommand(emulatorCommand());

program.parseAsync().catch((error: unknown) => {
  console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
