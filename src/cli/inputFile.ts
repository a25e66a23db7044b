import { readFile } from "node:fs/promises";
import { shown } from "../stack/shown";
import { CliError } from "./errors";

/** A name without a dot or a slash that is as long as a short key, and has a digit. */
const LIKE_A_KEY = /^(?=.*\d)[^./\\]{16,}$/;

/** Reads a file that an option names. @throws CliError `FILE_UNREADABLE` */
export async function readInput(path: string, option: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const file = LIKE_A_KEY.test(path) ? "the file" : `the file ${shown(path)}`;
    throw new CliError("FILE_UNREADABLE", `${file} of ${option} cannot be read (${code})`);
  }
}
