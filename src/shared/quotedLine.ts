import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { masked } from "./shown";

/** A path from the root, also as a url of a file. */
const PATH = /(?<=^|[\s"'`([]|\bfile:\/\/)\/[^\s"'`:/][^\s"'`:]*/g;
/** Stands for a folder while the rest is masked. No line has such characters. */
const FIRST_PLACE = 0xe000;

/** Quotes a line that the Pulumi CLI printed: masks everything that may be a secret. A folder of this machine is none, however it looks. */
export function quotedLine(line: string): string {
  const folders: string[] = [];
  const marked = line.replace(PATH, (path) => {
    let folder = path;
    while (!existsSync(folder)) folder = dirname(folder);
    if (folder === dirname(folder)) return path;
    folders.push(folder);
    return String.fromCharCode(FIRST_PLACE + folders.length - 1) + path.slice(folder.length);
  });
  return folders.reduce(
    (text, folder, at) => text.replace(String.fromCharCode(FIRST_PLACE + at), () => folder),
    masked(marked),
  );
}
