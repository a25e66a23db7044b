import { randomBytes } from "node:crypto";
import { sign } from "../../signature/sign";
import { checkType, type EmulatedEndpointType, ENDPOINT_TYPES } from "../endpoint";
import { checkNames, EmulatorError } from "../errors";
import type { SecretsByType } from "../savedData";

/** One secret, several during a rotation (newest first), or either of these for each endpoint type. */
export type SecretsOption =
  | string
  | readonly string[]
  | { readonly [Type in EmulatedEndpointType]?: string | readonly string[] };

/** Options of `rotateSecret`. */
export interface RotationOptions {
  /** `whsec_` followed by base64. Default: a new secret. */
  readonly secret?: string;
  /** Default: both types. */
  readonly type?: EmulatedEndpointType;
}

const ROTATION_OPTIONS: Readonly<Record<keyof RotationOptions, true>> = { secret: true, type: true };

/** A rotation of the signing secret that is under way. */
export interface SecretRotation {
  /** The new secret. */
  readonly secret: string;
  /** Ends the overlap. From then on only the new secret signs. */
  finish(): void;
}

/** The signing secrets. The API never returns them, as with the real service. */
export class Secrets {
  readonly #byType: Map<EmulatedEndpointType, readonly string[]>;

  /** @throws WebhookSecretError for an invalid secret */
  constructor(
    option: SecretsOption | undefined,
    private readonly onChange: () => void,
  ) {
    const generated = newSecret();
    const isForBoth = typeof option === "string" || isList(option);
    const each = isForBoth ? { production: option, development: option } : (option ?? {});
    checkNames("start: secrets", each, { production: true, development: true });
    this.#byType = new Map(ENDPOINT_TYPES.map((type) => [type, listOf(each[type] ?? generated)]));
  }

  of(type: EmulatedEndpointType): readonly string[] {
    return this.#byType.get(type) ?? [];
  }

  snapshot(): SecretsByType {
    return { production: this.of("production"), development: this.of("development") };
  }

  /** Adds a secret that signs at once, together with the old ones until the rotation is finished. */
  rotate(options: RotationOptions): SecretRotation {
    checkNames("rotate the secret", options, ROTATION_OPTIONS);
    const { secret = newSecret(), type } = options;
    checkType("rotate the secret", type);
    check(secret);
    const types = type === undefined ? ENDPOINT_TYPES : [type];
    for (const each of types)
      this.#byType.set(each, [secret, ...this.of(each).filter((old) => old !== secret)]);
    this.onChange();
    return {
      secret,
      finish: () => {
        for (const each of types) {
          const secrets = this.of(each);
          const newer = secrets.slice(0, secrets.indexOf(secret) + 1);
          if (newer.length > 0) this.#byType.set(each, newer);
        }
        this.onChange();
      },
    };
  }

  /** Ends every rotation: only the newest secret of each type is kept. */
  keepNewest(): void {
    for (const type of ENDPOINT_TYPES) this.#byType.set(type, this.of(type).slice(0, 1));
    this.onChange();
  }
}

function newSecret(): string {
  return `whsec_${randomBytes(32).toString("base64")}`;
}

function listOf(secrets: string | readonly string[]): readonly string[] {
  const list = typeof secrets === "string" ? [secrets] : [...secrets];
  if (list.length === 0) {
    throw new EmulatorError("EMULATOR_OPTIONS", "Cannot sign deliveries: the list of secrets is empty.");
  }
  for (const secret of list) check(secret);
  return list;
}

/** Throws for an invalid secret. The error of `sign` does not contain it. */
function check(secret: string): void {
  sign({ id: "msg_check", timestamp: 0, body: "", secret });
}

function isList(option: SecretsOption | undefined): option is readonly string[] {
  return Array.isArray(option);
}
