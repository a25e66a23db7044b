#!/usr/bin/env node
import { adoptCommand } from "./adopt";
import { doctorCommand } from "./doctor";
import { emulatorCommand } from "./emulator";
import { listCommand } from "./list";
import { pruneCommand } from "./prune";
import { recoverCommand } from "./recover";
import { fail, program } from "./run";

const { version }: { version: string } = require("../../package.json");

program("webhook-endpoints", [
  listCommand(),
  adoptCommand(),
  doctorCommand(),
  pruneCommand(),
  recoverCommand(),
  emulatorCommand(),
])
  .description(
    "Shows, adopts, cleans up and recovers webhook endpoints, and runs an emulator of the service.",
  )
  .version(version)
  .parseAsync()
  .catch(fail);
