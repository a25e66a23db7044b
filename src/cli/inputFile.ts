import { readFile } from "node:fs/promises";
import { shown } from "../stack/shown";
import { CliError } from "./errors";

/** Reads a file that an option names. @throws CliError `FILE_UNREADABLE` */
export async function readInput(path: string, option: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CliError("FILE_UNREADABLE", `the file ${shown(path)} of ${option} cannot be read (${code})`);
  }
}
