import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A Secret as Kubernetes mounts it: each version is in a folder of its own, and one link is swapped to the new one. */
export class MountedSecret {
  readonly #folder = mkdtempSync(join(tmpdir(), "mounted-"));
  readonly path = join(this.#folder, "receiver.json");
  #version = 0;

  constructor(text: string) {
    this.update(text);
    symlinkSync("..data/receiver.json", this.path);
  }

  update(text: string): void {
    this.#version += 1;
    const version = `..version_${this.#version}`;
    mkdirSync(join(this.#folder, version));
    writeFileSync(join(this.#folder, version, "receiver.json"), text);
    symlinkSync(version, join(this.#folder, "..data_tmp"));
    // Windows does not rename over a link to a folder.
    if (process.platform === "win32") rmSync(join(this.#folder, "..data"), { force: true });
    renameSync(join(this.#folder, "..data_tmp"), join(this.#folder, "..data"));
    rmSync(join(this.#folder, `..version_${this.#version - 1}`), { recursive: true, force: true });
  }

  unmount(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
