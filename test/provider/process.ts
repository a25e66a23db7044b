import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import type { RunOptions } from "../../src/provider/run";
import { createProvider } from "../../src/provider/verbs";
import { PROVIDER_CODE } from "../../src/shared/permanent";

export type Properties = Readonly<Record<string, unknown>>;

export interface Checked {
  readonly inputs: Properties;
  readonly failures: readonly { readonly reason: string }[];
}

export interface Made {
  readonly id: string;
  readonly properties: Properties;
  readonly inputs?: Properties;
}

/** What a verb failed with; for a resource that is half-made, what the engine keeps of it. */
export class VerbError extends Error {
  override readonly name = "VerbError";
  constructor(
    message: string,
    readonly halfMade?: Made & { readonly reasons: readonly string[] },
  ) {
    super(message);
  }
}

/** The error of a verb whose whole run was killed. */
export class Killed extends Error {
  override readonly name = "Killed";
}

/** One plugin process, without its process and its socket: the provider, as the engine calls it in one command. */
export class Process {
  isDead = false;
  readonly #provider: ReturnType<typeof createProvider>;
  #die: (error: Error) => void = () => {};
  readonly #death = new Promise<never>((_, reject) => {
    this.#die = reject;
  });

  constructor(config: Readonly<Record<string, string>>, parts: Partial<RunOptions>) {
    this.#death.catch(() => {});
    this.#provider = createProvider(parts);
    void this.#provider.configure({ config: { get: (name: string) => config[name] } as never });
  }

  /** Ends the process: with the whole run, or alone, and then the engine sees each call fail. */
  kill({ alone = false }: { readonly alone?: boolean } = {}): void {
    this.isDead = true;
    this.#die(alone ? new VerbError("the plugin has crashed") : new Killed());
  }

  async check(olds: Properties, news: Properties): Promise<Checked> {
    const { inputs, failures = [] } = await this.#called(this.#provider.check(sent(olds), sent(news)));
    return { inputs: received(inputs), failures };
  }

  async diff(id: string, olds: Properties, news: Properties) {
    const { changes, replaces = [] } = await this.#called(this.#provider.diff(id, sent(olds), sent(news)));
    return { changes: changes === true, replaces };
  }

  async create(inputs: Properties): Promise<Made> {
    const { id, outs } = await this.#called(this.#provider.create(sent(inputs)));
    return { id, properties: received(outs) };
  }

  /** Undefined: it is gone. */
  async read(id: string, properties: Properties): Promise<Made | undefined> {
    const read = await this.#called(this.#provider.read(id, sent(properties)));
    if (!read.id) return undefined;
    const inputs = read.inputs ? { inputs: received(read.inputs) } : {};
    return { id: read.id, properties: received(read.props), ...inputs };
  }

  async update(id: string, olds: Properties): Promise<Properties> {
    const { outs } = await this.#called(this.#provider.update(id, sent(olds)));
    return received(outs);
  }

  delete(id: string, properties: Properties): Promise<void> {
    return this.#called(this.#provider.delete(id, sent(properties)));
  }

  /** Fails as a verb does behind gRPC. */
  async #called<T>(verb: Promise<T>): Promise<T> {
    try {
      return await Promise.race([this.#death, verb]);
    } catch (error) {
      if (error instanceof Killed || error instanceof VerbError) throw error;
      const {
        message,
        id,
        properties,
        reasons = [],
      } = error as Partial<Made & { reasons: string[] }> & Error;
      throw new VerbError(message, id ? { id, properties: received(properties), reasons } : undefined);
    }
  }
}

/** Returns properties as they arrive after gRPC, which refuses what is undefined (engine rule 25), with the provider's code. */
function sent<T>(properties: Properties): T {
  return Struct.fromJavaScript({ ...properties, __provider: PROVIDER_CODE }).toJavaScript() as T;
}

/** Returns what the verbs return as it arrives, without the provider's code. */
function received(properties: object = {}): Properties {
  const { __provider: _, ...rest } = sent<Properties>(properties as Properties);
  return rest;
}
