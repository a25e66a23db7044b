import { randomBytes } from "node:crypto";
import { type SignedHeaders, sign } from "../../signature";
import type { EmulatedEndpointType } from "../endpoint";
import { EmulatorError } from "../errors";

/** One secret, several while rotating (newest first), or either for each type of endpoint. */
export type SecretsOption =
  | string
  | readonly string[]
  | { readonly [Type in EmulatedEndpointType]?: string | readonly string[] };

export interface RotationOptions {
  /** `whsec_` and base64. Default: a new one. */
  readonly secret?: string;
  /** Default: both types. */
  readonly type?: EmulatedEndpointType;
}

export interface SecretRotation {
  readonly secret: string;
  /** Ends the overlap: from then on only the new secret signs. */
  finish(): void;
}

const TYPES: readonly EmulatedEndpointType[] = ["production", "development"];

/** The secrets that deliveries are signed with. They never leave by the API: a user has them out of band. */
export class Secrets {
  readonly #byType: Map<EmulatedEndpointType, readonly string[]>;

  /** @throws WebhookSecretError for one that cannot be used */
  constructor(option: SecretsOption | undefined) {
    const generated = newSecret();
    const either = typeof option === "string" || isList(option) ? option : undefined;
    const each = typeof option === "string" || isList(option) ? {} : (option ?? {});
    this.#byType = new Map(TYPES.map((type) => [type, listOf(either ?? each[type] ?? generated)]));
  }

  of(type: EmulatedEndpointType): readonly string[] {
    return this.#byType.get(type) ?? [];
  }

  /** Signs with each secret of the type: several signatures stand in one header, separated by spaces. */
  sign(type: EmulatedEndpointType, message: { id: string; timestamp: number; body: string }): SignedHeaders {
    const signed = this.of(type).map((secret) => sign({ ...message, secret }));
    return {
      "webhook-id": message.id,
      "webhook-timestamp": String(message.timestamp),
      "webhook-signature": signed.map((headers) => headers["webhook-signature"]).join(" "),
    };
  }

  /** The new secret signs at once, beside the old ones until the rotation is finished. */
  rotate({ secret = newSecret(), type }: RotationOptions): SecretRotation {
    check(secret);
    const types = type === undefined ? TYPES : [type];
    for (const each of types)
      this.#byType.set(each, [secret, ...this.of(each).filter((old) => old !== secret)]);
    return {
      secret,
      finish: () => {
        for (const each of types) {
          const secrets = this.of(each);
          const newer = secrets.slice(0, secrets.indexOf(secret) + 1);
          if (newer.length > 0) this.#byType.set(each, newer);
        }
      },
    };
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

/** `sign` refuses a malformed secret without repeating it. */
function check(secret: string): void {
  sign({ id: "msg_check", timestamp: 0, body: "", secret });
}

function isList(option: SecretsOption | undefined): option is readonly string[] {
  return Array.isArray(option);
}
