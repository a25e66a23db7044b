import { existsSync } from "node:fs";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { createProvider } from "../../src/provider/verbs";
import { type CommandOptions, type Properties, VerbError, type Verbs } from "./plugin";
import { ROOT_URN } from "./rootUrn";

let commands = 0;

/** Returns the parts of a provider in this process, as `Plugin` gives them to one in a process of its own. */
export function partsOf({
  clock,
  run = `command ${++commands}`,
  environment,
  programFile = "",
}: CommandOptions = {}) {
  const startedAt = clock?.date();
  const engine = {
    run,
    warn: () => {},
    info: () => {},
    startedAt: () => startedAt,
    rootUrn: async () => (existsSync(programFile) ? ROOT_URN : undefined),
  };
  return { engine, environment: { ...process.env, ...environment }, ...(clock ? { clock } : {}) };
}

/** The provider in this process: a plugin without its process and its socket. */
export const inProcess = {
  async command(config: Readonly<Record<string, string>>, options?: CommandOptions): Promise<Verbs> {
    const provider = createProvider(partsOf(options));
    await provider.configure({ config: { get: (name: string) => config[name] } as never });
    return {
      async check(olds, news) {
        const { inputs, failures = [] } = await called(provider.check(sent(olds), sent(news)));
        return { inputs: received(inputs), failures };
      },
      async diff(id, olds, news) {
        const { changes, replaces = [] } = await called(provider.diff(id, sent(olds), sent(news)));
        return { changes: changes === true, replaces };
      },
      async create(inputs) {
        const { id, outs } = await called(provider.create(sent(inputs)));
        return { id, properties: received(outs) };
      },
      async read(id, properties) {
        const read = await called(provider.read(id, sent(properties)));
        if (!read.id) return undefined;
        const inputs = read.inputs ? { inputs: received(read.inputs) } : {};
        return { id: read.id, properties: received(read.props), ...inputs };
      },
      async update(id, olds) {
        const { outs } = await called(provider.update(id, sent(olds)));
        return received(outs);
      },
      async delete(id, properties) {
        await called(provider.delete(id, sent(properties)));
      },
    };
  },
};

/** Returns properties as they arrive after gRPC, which refuses what is undefined (engine rule 25), with the provider's code. */
function sent<T>(properties: Properties): T {
  return Struct.fromJavaScript({ ...properties, __provider: "in this process" }).toJavaScript() as T;
}

/** Returns what the verbs return as it arrives, without the provider's code. */
function received(properties: object = {}): Properties {
  const { __provider: _, ...rest } = sent<Properties>(properties as Properties);
  return rest;
}

interface HalfMade {
  readonly message: string;
  readonly id?: string;
  readonly properties?: Properties;
  readonly reasons?: readonly string[];
}

/** Fails as a verb does behind gRPC. */
async function called<T>(verb: Promise<T>): Promise<T> {
  try {
    return await verb;
  } catch (error) {
    const { message, id, properties, reasons = [] } = error as HalfMade;
    throw new VerbError(message, id ? { id, properties: received(properties), reasons } : undefined);
  }
}
