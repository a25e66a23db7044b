import { ENDPOINT_TYPES } from "../shared/endpointType";
import { keysOf, newSecret } from "../signature/secret";
import type { EmulatedEndpointType } from "./registry";

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

/** A rotation of the signing secret that is under way. */
export interface SecretRotation {
  /** The new secret. */
  readonly secret: string;
  /** Ends the overlap. From then on only the newest secret signs. */
  finish(): void;
}

/** The signing secrets. The API never returns them, as with the real service. */
export class Secrets {
  /** Newest first. */
  readonly byType: Record<EmulatedEndpointType, readonly string[]>;

  /** @throws WebhookSecretError for an invalid secret */
  constructor(
    option: SecretsOption = {},
    private readonly onChange: () => void,
  ) {
    const generated = newSecret();
    const isForBoth = typeof option === "string" || "length" in option;
    const given = isForBoth ? { production: option, development: option } : option;
    const { production = generated, development = generated } = given;
    this.byType = { production: [production].flat(), development: [development].flat() };
    for (const type of ENDPOINT_TYPES) keysOf(this.byType[type]);
  }

  /** Adds a secret that signs at once, together with the old ones until the rotation is finished. */
  rotate({ secret = newSecret(), type }: RotationOptions = {}): SecretRotation {
    keysOf(secret);
    const types = type === undefined ? ENDPOINT_TYPES : [type];
    for (const each of types)
      this.byType[each] = [secret, ...this.byType[each].filter((old) => old !== secret)];
    this.onChange();
    return { secret, finish: () => this.keepNewest(types) };
  }

  /** Ends every rotation of these types. */
  keepNewest(types = ENDPOINT_TYPES): void {
    for (const type of types) this.byType[type] = this.byType[type].slice(0, 1);
    this.onChange();
  }
}
