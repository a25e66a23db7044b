import * as grpc from "@grpc/grpc-js";
import * as services from "@pulumi/pulumi/proto/engine_grpc_pb";
import * as messages from "@pulumi/pulumi/proto/engine_pb";
import { connect, type Engine } from "../provider/engine";
import { stackOf } from "../shared/urn";

/** The engine that started this plugin, by its address. Its log shows under Diagnostics in `preview` and `up`. */
export class PluginEngine implements Engine {
  readonly #cancelling = new AbortController();
  readonly cancelled: AbortSignal = this.#cancelling.signal;
  readonly #engine: ReturnType<typeof connect>;
  /** Fires when the engine has ended without a word. */
  readonly gone: AbortSignal;
  #rootUrn: string | undefined;

  constructor(address: string) {
    this.#engine = connect({ grpc, services, messages }, address);
    this.gone = this.#engine.gone;
  }

  /** Ends every wait of this process. */
  cancel(): void {
    this.#cancelling.abort();
  }

  warn = (message: string) => this.#engine.log("WARNING", message);
  info = (message: string) => this.#engine.log("INFO", message);

  /** Notes a resource or a provider that the engine asks about: its URN names the stack. */
  noteUrn(urn: string): void {
    const { stack, project } = stackOf(urn);
    if (stack && project)
      this.#rootUrn = `urn:pulumi:${stack}::${project}::pulumi:pulumi:Stack::${project}-${stack}`;
  }

  async rootUrn(): Promise<string | undefined> {
    return this.#rootUrn;
  }
}
