import type { handleUnaryCall, UntypedServiceImplementation } from "@grpc/grpc-js";
import { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb";
import * as proto from "@pulumi/pulumi/proto/provider_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb";
import type { Engine } from "../provider/engine";
import type { Properties } from "../provider/facts/exportedState";
import type { Configuration } from "../provider/settings";
import { UNKNOWN_VALUE } from "../shared/optionChecks";
import { detailedDiff } from "./diff";
import type { PluginEngine } from "./engine";
import { callFunction } from "./functions";
import { createResources, type Resource, type Resources } from "./resources";
import { rpcError } from "./rpcError";
import { schema } from "./schema";
import { settingLookup } from "./settings";
import { fromEngine, toEngine } from "./values";

interface HandlerOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly engine: Engine & Pick<PluginEngine, "cancel" | "noteUrn">;
  /** Default: those of this package. */
  readonly resources?: Resources;
}

/** In the state of a stack that moved here from the dynamic provider, which keeps its code there. */
const PROVIDER_KEY = "__provider";
/** A mark of the dynamic provider: its engine tells a resource that is only read apart from others by nothing else. */
const EXTERNAL_KEY = "external";

/**
 * The engine's calls, converted to the verbs and back. Nothing here knows what an endpoint is. The engine does itself what is left
 * out: settings are not checked before a resource needs them, and other settings update a provider and never replace it, which would
 * replace each of its endpoints.
 */
export function createHandlers({
  environment,
  engine,
  resources = createResources({ environment, engine }),
}: HandlerOptions): UntypedServiceImplementation {
  let configuration: Configuration = () => undefined;
  let isConfigured = false;
  const resourceOf = (urn: string): Resource => {
    engine.noteUrn(urn);
    return resources.of(urn);
  };
  /** Returns what `create` and `update` share. `outputs` writes for the engine what they return: in a preview, what a program may know before. */
  const wanted = (request: proto.CreateRequest | proto.UpdateRequest, inputs: Struct | undefined) => {
    const { verbs, outputNames, secretNames: alwaysSecret } = resourceOf(request.getUrn());
    const { values, secretNames } = fromEngine(inputs, alwaysSecret);
    const outputs = (outs = previewed(values, outputNames)) => toEngine(outs, secretNames);
    return { verbs, values, secretNames, outputs };
  };

  return {
    getPluginInfo: unary((_request: Empty) => new PluginInfo().setVersion(schema.version)),

    getSchema: unary((_request: proto.GetSchemaRequest) =>
      new proto.GetSchemaResponse().setSchema(JSON.stringify(schema)),
    ),

    configure: unary(async (request: proto.ConfigureRequest) => {
      // The engine starts a process for each provider. Whoever else finds the port must not lead the environment's key elsewhere.
      if (isConfigured)
        throw new Error("this process of the plugin has its settings already: start another one");
      isConfigured = true;
      engine.noteUrn(request.getUrn() ?? "");
      const { values } = fromEngine(request.getArgs());
      configuration = settingLookup(values, request.getName() ?? "", environment);
      await resources.configure(configuration);
      return new proto.ConfigureResponse().setAcceptsecrets(true).setSupportspreview(true);
    }),

    invoke: unary(async (request: proto.InvokeRequest) => {
      const { warn, cancelled: signal } = engine;
      const options = { configuration, environment, warn, signal };
      const found = await callFunction(request.getTok(), fromEngine(request.getArgs()).values, options);
      // All of it, because nobody can know which urls hold tokens. The schema cannot say so for a function's outputs.
      return new proto.InvokeResponse().setReturn(toEngine(found, Object.keys(found)));
    }),

    check: unary(async (request: proto.CheckRequest) => {
      const urn = request.getUrn();
      const resource = resourceOf(urn);
      const olds = fromEngine(request.getOlds()).values;
      const { values, secretNames } = fromEngine(request.getNews(), resource.secretNames);
      const { inputs = values, failures = [] } = await resource.verbs.check(olds, values, {
        urn,
        secretNames,
      });
      const reasons = failures.map(({ property, reason }) =>
        new proto.CheckFailure().setProperty(property).setReason(reason),
      );
      return new proto.CheckResponse()
        .setInputs(toEngine(inputs as Properties, secretNames))
        .setFailuresList(reasons);
    }),

    diff: unary(async (request: proto.DiffRequest) => {
      const { verbs, outputNames: names } = resourceOf(request.getUrn());
      const olds = fromEngine(request.getOlds()).values;
      const news = fromEngine(request.getNews()).values;
      return detailedDiff(await verbs.diff(request.getId(), olds, news), { olds, news, names });
    }),

    create: unary(async (request: proto.CreateRequest) => {
      const { verbs, values, secretNames, outputs } = wanted(request, request.getProperties());
      const response = new proto.CreateResponse();
      if (request.getPreview()) return response.setProperties(outputs());
      try {
        const { id, outs = {} } = await verbs.create(values);
        return response.setProperties(outputs(outs)).setId(id);
      } catch (error) {
        throw rpcError(error, secretNames);
      }
    }),

    read: unary(async (request: proto.ReadRequest) => {
      const resource = resourceOf(request.getUrn());
      const state = fromEngine(request.getProperties(), resource.secretNames);
      const { id = "", props = {}, inputs } = await resource.verbs.read(request.getId(), state.values);
      const secretNames = [...state.secretNames, ...fromEngine(request.getInputs()).secretNames];
      // A program's `get`, whose url may hold a token. An import has no properties, and what it reads becomes the program's code.
      if (props[EXTERNAL_KEY] === true && request.hasProperties()) secretNames.push("url");
      const response = new proto.ReadResponse().setId(id);
      if (id === "") return response;
      // Without inputs of its own, a resource keeps those that it has.
      return response
        .setProperties(toEngine({ ...props, [EXTERNAL_KEY]: undefined }, secretNames))
        .setInputs(inputs === undefined ? request.getInputs() : toEngine(inputs, secretNames));
    }),

    update: unary(async (request: proto.UpdateRequest) => {
      const { verbs, values, outputs } = wanted(request, request.getNews());
      const response = new proto.UpdateResponse();
      if (request.getPreview()) return response.setProperties(outputs());
      const olds = fromEngine(request.getOlds()).values;
      const { outs = {} } = await verbs.update(request.getId(), olds, values);
      return response.setProperties(outputs({ ...outs, [PROVIDER_KEY]: undefined }));
    }),

    delete: unary(async (request: proto.DeleteRequest) => {
      const { verbs } = resourceOf(request.getUrn());
      await verbs.delete(request.getId(), fromEngine(request.getProperties()).values);
      return new Empty();
    }),

    // A request that changes the service goes on, because its outcome must be recorded. Every wait ends.
    cancel: unary((_request: Empty) => {
      engine.cancel();
      return new Empty();
    }),
  };
}

function unary<Request, Response>(
  handle: (request: Request) => Response | Promise<Response>,
): handleUnaryCall<Request, Response> {
  return ({ request }, reply) => {
    Promise.resolve(request)
      .then(handle)
      .then(
        (response) => reply(null, response),
        (error: unknown) => reply(error instanceof Error ? rpcError(error) : (error as object)),
      );
  };
}

/** Returns the outputs that a program may know before the resource exists. */
function previewed(inputs: Properties, outputNames: readonly string[]): Properties {
  return Object.fromEntries(outputNames.map((name) => [name, inputs[name] ?? UNKNOWN_VALUE]));
}
