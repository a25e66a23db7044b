import { Server } from "node:net";

/** The path of the request that the engine sends when the user cancels the run. */
const CANCEL_PATH = "/pulumirpc.ResourceProvider/Cancel";

/**
 * Returns a signal that fires when the user cancels the run that this plugin process works for (engine rule 43).
 *
 * The dynamic provider's plugin handles the engine's request itself, and passes nothing on. So this observes the requests that
 * arrive at the plugin's gRPC server, and changes nothing about them. Node.js has no documented way to that server. If it is not
 * found, the signal never fires, and each wait ends at its own limit.
 */
export function cancellation(): AbortSignal {
  const cancelling = new AbortController();
  for (const server of openServers()) {
    // Only an HTTP/2 server emits this.
    server.on("stream", (_stream: unknown, headers: Readonly<Record<string, unknown>>) => {
      if (headers[":path"] === CANCEL_PATH) cancelling.abort();
    });
  }
  return cancelling.signal;
}

/** Returns the servers of this process that listen. */
function openServers(): Server[] {
  const handles: unknown = Reflect.get(process, "_getActiveHandles")?.call(process);
  return Array.isArray(handles) ? handles.filter((handle) => handle instanceof Server) : [];
}
