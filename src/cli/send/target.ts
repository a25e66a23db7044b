import { checkUrl } from "../arguments";
import { CliError } from "../errors";
import type { SigningSecrets } from "../secrets";

/** Returns the url of one of the stack's endpoints. @throws CliError `WRONG_USE` */
export function endpointUrl(signing: SigningSecrets | undefined, name: string | undefined): string {
  const endpoints = signing?.endpoints ?? {};
  const names = Object.keys(endpoints);
  const known = `The stack's receiver has: ${names.join(", ")}`;
  const chosen = name ?? (names.length === 1 ? names[0] : undefined);
  if (names.length === 0)
    throw new CliError(
      "WRONG_USE",
      "the url of the receiver is missing: name it with --to, or use a stack whose output receiver has an endpoint",
    );
  if (chosen === undefined)
    throw new CliError("WRONG_USE", `choose an endpoint with --endpoint, or a url with --to. ${known}`);
  const endpoint = Object.hasOwn(endpoints, chosen) ? endpoints[chosen] : undefined;
  if (endpoint === undefined) throw new CliError("WRONG_USE", `--endpoint names no endpoint. ${known}`);
  checkUrl(endpoint.url, `the url of the endpoint ${chosen}`);
  return endpoint.url;
}
