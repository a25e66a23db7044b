import { parseJson } from "../../shared/json";
import { ReceiverConfigError } from "../../stack";
import { problemsOfSecrets } from "../../stack/config";
import { parseConfig } from "../../stack/parse";
import { type Receivers, receiversOf } from "./stackReceivers";

/**
 * What a file or an environment variable says about the signing secrets. It has a `config` if it is the configuration of a receiver, and
 * `others` too if it is the outputs of a stack.
 */
export interface SecretText extends Partial<Receivers> {
  readonly secrets: readonly string[];
}

interface SecretTextOptions {
  /** The place, for messages, such as "the environment variable WEBHOOK_SECRET". */
  readonly place: string;
  readonly output: string;
}

/**
 * Reads signing secrets: one on each line, a receiver's configuration, all outputs of a stack, or the emulator's data file. Lines
 * that are empty or begin with `#` are skipped.
 *
 * @throws ReceiverConfigError `CONFIG_MISSING` or `CONFIG_INVALID`; it repeats no secret
 */
export function readSecretText(text: string, { place, output }: SecretTextOptions): SecretText {
  const content = text.replace(/^\uFEFF/, "").trim();
  if (!/^["{[]/.test(content)) {
    const lines = content.split(/\r?\n/).map((line) => line.trim());
    return {
      secrets: checked(
        lines.filter((line) => line !== "" && !line.startsWith("#")),
        place,
      ),
    };
  }
  const value = parseJson(content);
  const json = Object(typeof value === "string" ? parseJson(value) : value);
  if (isEmulatorData(json)) return { secrets: checked(Object.values(json.secrets).flat(), place) };
  if (Array.isArray(json) || isConfig(json, output) || Object.keys(json).length === 0) {
    const config = parseConfig(content, { where: `in ${place}` });
    return { secrets: config.secrets, config };
  }
  const { config, others } = receiversOf(json, { output, owner: place });
  return { secrets: config.secrets, config, others };
}

/** Returns whether a value is a configuration, if perhaps of a later version. A stack may have an output named `version`, too. */
function isConfig(json: object, output: string): boolean {
  const { version, secrets } = json as Partial<Record<string, unknown>>;
  return !Object.hasOwn(json, output) && (typeof version === "number" || Array.isArray(secrets));
}

interface EmulatorData {
  readonly secrets: Readonly<Record<string, readonly unknown[]>>;
}

function isEmulatorData(json: object): json is EmulatorData {
  const { secrets, accounts } = json as Partial<Record<string, unknown>>;
  if (typeof accounts !== "object" || typeof secrets !== "object" || secrets === null) return false;
  return Object.values(secrets).every((list) => Array.isArray(list));
}

/** Returns each secret once. @throws ReceiverConfigError `CONFIG_INVALID` */
function checked(found: readonly unknown[], place: string): readonly string[] {
  const secrets = [...new Set(found)];
  const isOther = secrets.length > 1 && !secrets.some((each) => /whsec/.test(String(each)));
  const problems =
    secrets.length === 0 || isOther
      ? ["it holds no signing secret, which begins with whsec_"]
      : problemsOfSecrets(secrets);
  if (problems.length === 0) return secrets as string[];
  throw new ReceiverConfigError("CONFIG_INVALID", `${place} cannot be used: ${problems.join("; ")}`);
}
