import { open } from "node:fs/promises";
import { mayBeKey } from "../shared/mayBeKey";
import { CliError } from "./errors";

/** Bounds the memory that a wrong path can use, in bytes. */
const LARGEST_BYTES = 64 * 1024 * 1024;

/** Reads a file that an option names; `-` is standard input. @throws CliError `WRONG_USE` or `FILE_UNREADABLE` */
export async function readInput(path: string, option: string): Promise<Buffer> {
  if (path === "") throw new CliError("WRONG_USE", `${option} names no file: its path is empty`);
  const file = path === "-" ? "standard input" : mayBeKey(path) ? "the file" : `the file ${path}`;
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    const stream = path === "-" ? process.stdin : (await open(path)).createReadStream();
    for await (const chunk of stream) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > LARGEST_BYTES) throw Object.assign(new Error(), { code: "larger than 64 MiB" });
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CliError("FILE_UNREADABLE", `${file} of ${option} cannot be read (${code})`);
  }
  return Buffer.concat(chunks);
}
