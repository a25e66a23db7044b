import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Receiver } from "../receiver";
import { ReceiverConfigError } from "./error";
import { parseConfig } from "./parse";
import { type ConfiguredReceiverOptions, configuredReceiver } from "./receiver";

export interface FileSource {
  /** The file that holds the configuration as JSON, such as a mounted secret. */
  readonly path: string;
}

/**
 * A receiver from a file: for production, with a secret that a platform mounts and updates. The secrets are read again as
 * `ReceiverOptions.secrets` says, so that a rotation needs no restart, also where the platform swaps a symbolic link; a
 * file that cannot be used then leaves the last good ones in use and is told to `onSecretsError`. The tolerance is read
 * once.
 *
 * @throws ReceiverConfigError `CONFIG_MISSING` or `CONFIG_INVALID`
 */
export function receiverFromFile({ path }: FileSource, options: ConfiguredReceiverOptions): Receiver {
  if (typeof path !== "string")
    throw new ReceiverConfigError("CONFIG_MISSING", "receiverFromFile({ path }, options): path is no text");
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw missing(path, cause);
  }
  return configuredReceiver(parseConfig(text, { where: path }), options, async () => {
    const current = await readFile(path, "utf8").catch((cause: unknown) => {
      throw missing(path, cause);
    });
    return parseConfig(current, { where: path }).secrets;
  });
}

function missing(path: string, cause: unknown): ReceiverConfigError {
  const { code } = cause as NodeJS.ErrnoException;
  return new ReceiverConfigError(
    "CONFIG_MISSING",
    `the receiver's configuration ${path} cannot be read: ${code}`,
    { cause },
  );
}
