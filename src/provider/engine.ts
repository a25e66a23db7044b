import type { ChannelInterface, connectivityState } from "@grpc/grpc-js";
import { messageLine } from "../shared/escape";
import { cancellation, sdkBeside } from "../shared/pulumiInternals";
import { nameOf } from "../shared/urn";

/** Writes to the terminal, through the engine. */
export interface EngineLog {
  warn(message: string): void;
  info(message: string): void;
}

/** Begins a message with the resource that it is about: the engine shows it without. @param urn undefined or "" if nobody told it */
export function aboutResource(urn: string | undefined, message: string): string {
  return urn ? `WebhookEndpoint ${JSON.stringify(nameOf(urn))}: ${message}` : message;
}

/** What a provider can ask of the engine that started it. */
export interface Engine extends EngineLog {
  /** Fires when the user cancels the run, or the engine is gone. Absent where that is not known. */
  readonly cancelled?: AbortSignal | undefined;
  /** Returns the URN of the stack, or undefined when the engine does not know it: in a command without a program. */
  rootUrn(): Promise<string | undefined>;
}

/**
 * Returns the engine behind this plugin process. Its log shows under Diagnostics in `preview` and `up` (engine rule 12).
 *
 * It is reached with the gRPC client of the SDK beside the plugin's main file, at the address that is the plugin's first argument. A
 * message that cannot be sent is dropped.
 */
export function connectEngine(): Engine {
  const [, plugin = "", address = ""] = process.argv;
  let connected: ReturnType<typeof connect> | undefined;
  const client = () => {
    connected ??= connect(sdkBeside(plugin), address);
    return connected;
  };
  const log = (severity: "INFO" | "WARNING", message: string) => {
    try {
      client().log(severity, message);
    } catch {
      // Failing to log is never an error.
    }
  };
  let cancelled: AbortSignal | undefined;
  const endOfRun = () => {
    const cancelling = cancellation();
    try {
      return AbortSignal.any([cancelling, client().gone]);
    } catch {
      return cancelling;
    }
  };
  return {
    // Made when it is first asked for, by a run: only then is there an engine to watch.
    get cancelled() {
      if (address !== "") cancelled ??= endOfRun();
      return cancelled;
    },
    warn: (message) => log("WARNING", message),
    info: (message) => log("INFO", message),
    async rootUrn() {
      try {
        return (await client().rootUrn()) || undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/** Through no proxy: the engine is on this machine. */
const DIRECTLY = { "grpc.enable_http_proxy": 0 };

/** The gRPC client, and the messages that it sends. */
interface Sdk {
  readonly grpc: typeof import("@grpc/grpc-js");
  readonly services: typeof import("@pulumi/pulumi/proto/engine_grpc_pb");
  readonly messages: typeof import("@pulumi/pulumi/proto/engine_pb");
}

/** Returns what a provider asks of the engine at an address. Its connection opens in the background. */
export function connect({ grpc, services, messages }: Sdk, address: string) {
  const client = new services.EngineClient(address, grpc.credentials.createInsecure(), DIRECTLY);
  return {
    gone: lossOf(client.getChannel(), grpc.connectivityState),
    /** A message that cannot be sent is dropped. */
    log(severity: "INFO" | "WARNING", message: string) {
      const request = new messages.LogRequest();
      request.setSeverity(messages.LogSeverity[severity]);
      request.setMessage(messageLine(message));
      client.log(request, () => {});
    },
    rootUrn: () =>
      new Promise<string>((resolve, reject) => {
        client.getRootResource(new messages.GetRootResourceRequest(), (error, response) =>
          error === null ? resolve(response?.getUrn() ?? "") : reject(error),
        );
      }),
  };
}

/**
 * Returns a signal that fires when the connection to the engine is lost and nobody listens there any more. A killed engine leaves this
 * process behind (engine rule 35), and what that still sent would undo what the next run does.
 */
function lossOf(
  channel: ChannelInterface,
  { READY, TRANSIENT_FAILURE }: typeof connectivityState,
): AbortSignal {
  const losing = new AbortController();
  let wasReady = false;
  const watch = () => {
    const state = channel.getConnectivityState(true);
    wasReady ||= state === READY;
    if (wasReady && state === TRANSIENT_FAILURE) losing.abort();
    else channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, watch);
  };
  watch();
  return losing.signal;
}
