import type { Dispatcher } from "undici";
import { hasSigningSecret } from "../../../shared/masking";

/** How long a secret may be in a response, in characters. */
const LONGEST_SECRET = 200;

/** Returns a dispatcher that names each request whose response has a signing secret, which the client's results do not show. */
export function watchForSecrets(direct: Dispatcher, onSecret: (request: string) => unknown): Dispatcher {
  return direct.compose((dispatch) => (options, handler) => {
    let text = "";
    return dispatch(options, {
      ...handler,
      onResponseData: (controller, chunk) => {
        // The end of what came before: a secret may come in two chunks.
        text = text.slice(-LONGEST_SECRET) + chunk.toString("latin1");
        if (hasSigningSecret(text)) onSecret(`${options.method} ${options.path}`);
        handler.onResponseData?.(controller, chunk);
      },
    });
  });
}
