import type { handleUnaryCall, UntypedServiceImplementation } from "@grpc/grpc-js";
import { ConfigureRequest } from "@pulumi/pulumi/proto/provider_pb";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { PROVIDER_NAME_KEY } from "../../src/provider/settings";
import { Resources } from "../../src/plugin/resources";
import { createService } from "../../src/plugin/service";
import { partsOf } from "../provider/inProcess";
import { Command, type CommandOptions, type RpcError, verbError } from "../provider/plugin";

const URN = "urn:pulumi:dev::test::webhooks:index:WebhookEndpoint::of-some-name";

/** The native plugin's service in this process, with a clock of its own for each command. Nothing but the socket is missing. */
export class NativePlugin {
  async command(config: Readonly<Record<string, string>>, options?: CommandOptions): Promise<Command> {
    const parts = partsOf(options);
    const { environment } = parts;
    const engine = { ...parts.engine, attach: () => {}, cancel: () => {}, met: () => {} };
    const resources = new Resources({ ...parts, engine });
    const service = createService({ environment, engine, resources });
    const { [PROVIDER_NAME_KEY]: name = "default", ...settings } = config;
    const args = Object.entries(settings).map(([key, value]) => [key.replace("webhooks:", ""), value]);
    const request = new ConfigureRequest();
    request.setArgs(Struct.fromJavaScript(Object.fromEntries(args)));
    request.setName(name);
    await call(service, "configure", request);
    return new Command({ call: (verb, sent) => call(service, verb, sent) });
  }
}

/** Calls the service, as the engine does. */
function call(service: UntypedServiceImplementation, verb: string, request: unknown): Promise<unknown> {
  if (verb !== "configure") (request as { setUrn(urn: string): void }).setUrn(URN);
  return new Promise((resolve, reject) => {
    const handler = service[verb] as handleUnaryCall<unknown, unknown>;
    handler({ request } as never, (error, response) => {
      if (error === null) resolve(response);
      else reject(verbError(error as RpcError));
    });
  });
}
