#!/usr/bin/env node
import { emulatorCommand } from "./emulator";
import { recoverCommand } from "./recover";
import { fail, program } from "./run";

const { version }: { version: string } = require("../../package.json");

program("webhook-endpoints", [recoverCommand(), emulatorCommand()])
  .description("Recovers webhook endpoints after an interrupted run, and runs an emulator of the service.")
  .version(version)
  .parseAsync()
  .catch(fail);
