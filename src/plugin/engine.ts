import { connectivityState, credentials } from "@grpc/grpc-js";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb";
import { DIRECTLY, type Engine, lossOf } from "../provider/engine";
import { messageLine } from "../shared/escape";
import { stackOf } from "../shared/urn";

/** The engine that started this plugin, by its address. Its log shows under Diagnostics in `preview` and `up`. */
export class PluginEngine implements Engine {
  readonly #cancelling = new AbortController();
  readonly cancelled: AbortSignal = this.#cancelling.signal;
  readonly #client: EngineClient;
  /** Fires when the engine has ended without a word. */
  readonly gone: AbortSignal;
  #rootUrn: string | undefined;

  constructor(address: string) {
    this.#client = new EngineClient(address, credentials.createInsecure(), DIRECTLY);
    this.gone = lossOf(this.#client.getChannel(), connectivityState);
  }

  /** Ends every wait of this process. */
  cancel(): void {
    this.#cancelling.abort();
  }

  warn = (message: string) => this.#log(LogSeverity.WARNING, message);
  info = (message: string) => this.#log(LogSeverity.INFO, message);

  /** Notes a resource or a provider that the engine asks about: its URN names the stack. */
  noteUrn(urn: string): void {
    const { stack, project } = stackOf(urn);
    if (stack && project)
      this.#rootUrn = `urn:pulumi:${stack}::${project}::pulumi:pulumi:Stack::${project}-${stack}`;
  }

  async rootUrn(): Promise<string | undefined> {
    return this.#rootUrn;
  }

  /** A message that cannot be sent is dropped. */
  #log(severity: 1 | 2, message: string): void {
    this.#client.log(new LogRequest().setSeverity(severity).setMessage(messageLine(message)), () => {});
  }
}
