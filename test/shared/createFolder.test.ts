import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFolder } from "../../src/shared/createFolder";

test("createFolder creates what is missing, for its user only if asked", () => {
  const folder = mkdtempSync(join(tmpdir(), "create-folder-"));
  try {
    const path = join(folder, "a", "b");
    createFolder(path, 0o700);
    createFolder(path, 0o700);
    expect(statSync(path).mode & 0o777).toBe(0o700);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each(["/proc/captures/a", "/dev/null/captures", "/dev/null"])(
  "a folder %s is refused, and its creation ends",
  (path) => {
    expect(() => createFolder(path)).toThrow(/E[A-Z]+/);
  },
);
