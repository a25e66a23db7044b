import { readFileSync } from "node:fs";
import { shown } from "../stack/shown";
import { CliError } from "./errors";

/** Reads a file that an option names. @throws CliError `FILE_UNREADABLE` */
export function readInput(path: string, option: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CliError("FILE_UNREADABLE", `the file ${shown(path)} of ${option} cannot be read (${code})`);
  }
}
