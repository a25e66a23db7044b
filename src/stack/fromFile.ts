import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Receiver } from "../receiver";
import type { NoEvents } from "../receiver/types";
import { NOT_SHOWN, shown } from "../shared/shown";
import { ReceiverConfigError } from "./config";
import { parseConfig } from "./parse";
import {
  type ConfiguredQueueOptions,
  type ConfiguredReceiverOptions,
  checkArguments,
  configuredReceiver,
} from "./receiver";

/** Where `receiverFromFile` reads the configuration. */
export interface FileSource {
  /** The file that holds the configuration as JSON, such as a mounted secret. A relative path is resolved once, at the start. */
  readonly path: string;
}

/**
 * Creates a receiver from a file: for production, with a secret that a platform mounts and updates. The secrets are read again as
 * `ReceiverOptions.secrets` describes, so a rotation needs no restart, even where the platform swaps a symbolic link. If the
 * file cannot be used then, the last good secrets stay in use and `onSecretsError` is called. The tolerance is read once.
 *
 * @throws ReceiverConfigError `CONFIG_MISSING` or `CONFIG_INVALID`
 * @throws TypeError for an unknown option; see also `createReceiver`
 */
export function receiverFromFile<Events extends object = NoEvents>(
  source: FileSource,
  options: ConfiguredReceiverOptions<Events> | ConfiguredQueueOptions,
): Receiver {
  checkArguments("receiverFromFile", { source, known: ["path"], options });
  const { path: given } = source;
  if (typeof given !== "string" || given === "") {
    throw new ReceiverConfigError(
      "CONFIG_MISSING",
      "receiverFromFile: path must be a non-empty string, as in receiverFromFile({ path }, options)",
    );
  }
  const path = resolve(given);
  const unreadable = (error: unknown) => unreadableFile({ given, path, error });

  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw unreadable(error);
  }

  let reading: Promise<string> | undefined;
  return configuredReceiver(parseConfig(text, { where: path }), options, async () => {
    // One read at a time: each one that hangs takes a thread of Node's small pool.
    reading ??= readFile(path, "utf8").finally(() => {
      reading = undefined;
    });
    const current = await reading.catch((error: unknown) => {
      throw unreadable(error);
    });
    return parseConfig(current, { where: path }).secrets;
  });
}

function unreadableFile({ given, path, error }: { given: string; path: string; error: unknown }) {
  const { code } = error as NodeJS.ErrnoException;
  if (shown(given) === given) {
    const reason = `the receiver's configuration ${path} cannot be read: ${code}`;
    return new ReceiverConfigError("CONFIG_MISSING", reason, { cause: error });
  }
  // Without the cause, which repeats the path.
  return new ReceiverConfigError(
    "CONFIG_MISSING",
    `receiverFromFile: path does not name a file that can be read (${code}). ${NOT_SHOWN} the path of the file, not what the file holds`,
  );
}
