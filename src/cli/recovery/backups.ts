import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Deployment } from "../../settlement/deployment";
import { CliError } from "../errors";

/** How many backups are kept, of all stacks together. */
const MAX_BACKUPS = 50;

/** States as they were before `recover` changed them. Only this user can read them; their secrets are encrypted. */
export class Backups {
  readonly folder: string;

  constructor({ PULUMI_HOME }: NodeJS.ProcessEnv) {
    this.folder = join(resolve(PULUMI_HOME || join(homedir(), ".pulumi")), "webhook-endpoints", "backups");
  }

  /**
   * Keeps what `pulumi stack export` printed.
   *
   * @returns the file's path
   * @throws CliError `BACKUP_FAILED`
   */
  keep(exported: string, deployment: Deployment, now: Date): string {
    // Begins with the time, so that the names sort by age.
    const name = `${now.toISOString().replace(/[:.]/g, "-")}-${stackNameOf(deployment)}.json`;
    const file = join(this.folder, name);
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      chmodSync(this.folder, 0o700);
      writeFileSync(file, exported, { mode: 0o600, flag: "wx" });
    } catch (cause) {
      throw new CliError(
        "BACKUP_FAILED",
        `cannot write a backup of the state into ${this.folder}, so the state was not changed. Make the folder writable, or set ` +
          "PULUMI_HOME to one that is",
        { cause },
      );
    }
    return file;
  }

  /** Removes the oldest backups beyond the limit. A file that cannot be removed stays. */
  prune(): void {
    const files = readdirSync(this.folder).filter((name) => name.endsWith(".json"));
    for (const name of files.sort().slice(0, -MAX_BACKUPS)) {
      try {
        rmSync(join(this.folder, name));
      } catch {
        // It is removed by a later run.
      }
    }
  }
}

/** Returns the project and the stack as a part of a file's name. */
function stackNameOf({ resources = [] }: Deployment): string {
  const [stack = "", project = ""] = (resources[0]?.urn ?? "").replace(/^urn:pulumi:/, "").split("::");
  return `${project}-${stack}`.replace(/[^\w.-]/g, "_").slice(0, 100);
}
