import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = join(__dirname, "../..");

/** What pnpm installs in temporary folders: the package as it is published, in packages that depend on it. */
export class Pnpm {
  readonly #folder = mkdtempSync(join(tmpdir(), "webhooks-pnpm-"));

  /** Packs the package, and gives what a package.json says to depend on that. */
  async pack(): Promise<string> {
    const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", this.#folder];
    const packed: { filename: string }[] = JSON.parse((await run("npm", args, { cwd: root })).stdout);
    return `file:${join(this.#folder, packed[0]?.filename ?? "")}`;
  }

  /** Makes a package of these files and gives its folder. */
  write(name: string, files: Readonly<Record<string, string | object>>): string {
    const folder = join(this.#folder, name);
    mkdirSync(folder);
    for (const [file, content] of Object.entries(files)) {
      writeFileSync(join(folder, file), typeof content === "string" ? content : JSON.stringify(content));
    }
    return folder;
  }

  /** Installs these packages by themselves and gives the folder that holds them. */
  async install(name: string, dependencies: Readonly<Record<string, string>>): Promise<string> {
    const folder = this.write(name, { "package.json": { private: true, dependencies } });
    const at = (place: string) => join(this.#folder, place);
    await run("npx", ["-y", "pnpm@9.15.9", "install", "--ignore-scripts", "--store-dir", at("store")], {
      cwd: folder,
      env: {
        ...process.env,
        XDG_CACHE_HOME: at("cache"),
        XDG_STATE_HOME: at("state"),
        XDG_DATA_HOME: at("data"),
      },
    });
    return join(folder, "node_modules");
  }

  dispose(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
