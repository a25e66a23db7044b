import type { AddedEndpoint, EmulatedEndpoint, EndpointInput } from "./endpoint";
import { EmulatorError } from "./errors";
import type { Keys } from "./keys";
import type { Registry } from "./registry";

interface BackdoorOptions {
  readonly registry: Registry;
  readonly keys: Keys;
  readonly homeAccount: string;
}

/** The methods that read and change endpoints without an API request, so that clients see drift. */
export function backdoor({ registry, keys, homeAccount }: BackdoorOptions) {
  const hint = " endpoints() lists the registered endpoints.";

  return {
    endpoints(account?: string): EmulatedEndpoint[] {
      if (account !== undefined) return registry.list(account);
      return [...registry.accounts].flatMap((name) => registry.list(name));
    },
    add(input: AddedEndpoint, account = homeAccount): EmulatedEndpoint {
      if (!keys.accounts.has(account)) {
        const known = [...keys.accounts].join(", ");
        const message = `Cannot add an endpoint to account ${account}: no API key opens it. Known accounts: ${known}.`;
        throw new EmulatorError("EMULATOR_UNKNOWN_ACCOUNT", message);
      }
      return registry.add(account, input);
    },
    remove(id: string): EmulatedEndpoint {
      const { account, endpoint } = registry.found(id, "remove", { hint });
      registry.remove(account, id);
      return endpoint;
    },
    edit(id: string, change: Partial<EndpointInput>): EmulatedEndpoint {
      const { account, endpoint } = registry.found(id, "edit", { hint });
      return registry.replace(account, endpoint, change);
    },
  };
}
