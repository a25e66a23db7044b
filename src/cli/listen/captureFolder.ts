import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ReceiverRequest } from "../../receiver";
import { createFolder } from "../../shared/createFolder";
import { mayBeKey } from "../../shared/mayBeKey";
import { dataOfRequest } from "../capture/captureFile";
import { CliError } from "../errors";

/** Bounds what senders can write to the disk in one run, with the size of a body. */
const MOST_FILES = 1_000;
/** The longest part of an id in a file's name. */
const LONGEST_ID = 64;

interface CaptureDetails {
  readonly id: string | undefined;
  /** Why it was refused. Undefined if it was verified. */
  readonly reason: string | undefined;
  readonly receivedAt: Date;
}

/** A folder of captured deliveries, one file each, for `verify --capture` and `send --capture`. */
export class CaptureFolder {
  #count = 0;

  private constructor(
    private readonly path: string,
    private readonly warn: (text: string) => void,
  ) {}

  /** Makes the folder if there is none. @throws CliError `FILE_UNWRITABLE` */
  static async open(path: string, warn: (text: string) => void): Promise<CaptureFolder> {
    try {
      createFolder(path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const folder = mayBeKey(path) ? "the folder" : `the folder ${path}`;
      throw new CliError("FILE_UNWRITABLE", `${folder} of --save cannot be made (${code})`);
    }
    return new CaptureFolder(path, warn);
  }

  /** Writes a delivery to a new file that only this user can read, and returns its path. Returns null if that fails. */
  async save(
    { headers, body }: ReceiverRequest,
    { id, reason, receivedAt }: CaptureDetails,
  ): Promise<string | null> {
    if (this.#count >= MOST_FILES) {
      if (this.#count++ === MOST_FILES)
        this.warn(`${MOST_FILES} deliveries were saved; no more are, until the command starts again`);
      return null;
    }
    this.#count += 1;
    const data = {
      receivedAt: receivedAt.toISOString(),
      verified: reason === undefined,
      reason: reason ?? null,
      ...dataOfRequest(headers, body),
    };
    const safeId = (id ?? "no-id").replace(/[^\w-]/g, "_").slice(0, LONGEST_ID);
    const start = `${receivedAt.getTime()}-${safeId}${reason === undefined ? "" : `-${reason}`}`;
    for (let number = 1; ; number += 1) {
      const file = join(this.path, `${start}${number === 1 ? "" : `-${number}`}.json`);
      try {
        await writeFile(file, `${JSON.stringify(data, null, 2)}\n`, { flag: "wx", mode: 0o600 });
        return file;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === "EEXIST") continue;
        await rm(file, { force: true }).catch(() => undefined);
        this.warn(`the delivery ${safeId} was not saved (${code})`);
        return null;
      }
    }
  }
}
