import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { json } from "node:stream/consumers";
import { parseReceiverConfig } from "../../../src/stack";
import { delivered } from "../../receiver/support";
import { newSecret } from "../../stack/support";

jest.setTimeout(300_000);

const recipes = resolve(__dirname, "../../../examples/recipes");
const installed = resolve(__dirname, "../node_modules");

test("every recipe compiles with the types of the packages that it uses", async () => {
  const args = [require.resolve("typescript/bin/tsc"), "--project", __dirname, "--listFiles"];
  const printed = await new Promise<string>((done) => {
    execFile(process.execPath, args, { maxBuffer: 2 ** 26 }, (_, out, err) => done(out + err));
  });
  const lines = printed.trim().split("\n");
  const problems = lines.filter((line) => !existsSync(line));
  expect(problems).toEqual([]);
  for (const name of readdirSync(recipes, { withFileTypes: true }).filter((entry) => entry.isDirectory()))
    expect(lines).toContainEqual(expect.stringContaining(join(recipes, name.name, "/")));
  expect(lines).toContain(join(installed, "@pulumi/aws/index.d.ts"));
});

const secrets = [newSecret(), newSecret()];
interface DeploymentSpec {
  template: { spec: { containers: { volumeMounts: { mountPath: string }[] }[]; volumes: unknown } };
}
type Inputs = Readonly<Record<string, unknown>>;

/** Runs the program of a recipe without its cloud, and returns the inputs of each resource, by type. */
async function declaredBy(recipe: string): Promise<Record<string, Inputs>> {
  const declared: Record<string, Inputs> = {};
  await jest.isolateModulesAsync(async () => {
    const pulumi = await import("@pulumi/pulumi");
    // Packages that install their own @pulumi/pulumi must use the one with the mocks.
    jest.doMock("@pulumi/pulumi", () => pulumi);
    for (const name of ["@pulumi/aws", "@pulumi/kubernetes"])
      jest.doMock(name, () => jest.requireActual(join(installed, name)), { virtual: true });
    pulumi.runtime.setAllConfig({
      "project:signingSecret": String(secrets[0]),
      "project:nextSigningSecret": String(secrets[1]),
      "project:image": "receiver:1",
    });
    await pulumi.runtime.setMocks({
      newResource({ type, name, inputs }) {
        declared[type] = inputs;
        const outputs = { arn: `arn:of:${name}`, functionUrl: "https://receiver.example.com/" };
        return { id: `id_of_${name}`, state: { ...outputs, ...inputs } };
      },
      call: ({ inputs }) => inputs,
    });
    await import(join(recipes, recipe, "index.ts"));
    await pulumi.runtime.disconnect();
  });
  return declared;
}

/** Returns a value that was passed to the engine as a secret. */
function secretValue(input: unknown): unknown {
  expect(input).toMatchObject({ [SIGNATURE_KEY]: SECRET_SIGNATURE });
  return (input as { value: unknown }).value;
}
/** The engine marks a secret with this property and this value, in every version. */
const SIGNATURE_KEY = "4dabf18193072939515e22adb298388d";
const SECRET_SIGNATURE = "1b47061264138c4ac30d75fd1eb44270";

test("the Kubernetes recipe mounts the configuration as a Secret, where the receiver reads it", async () => {
  const declared = await declaredBy("kubernetes");
  const { metadata, stringData } = declared["kubernetes:core/v1:Secret"] ?? {};
  const [[file, text] = []] = Object.entries(secretValue(stringData) as Record<string, string>);
  expect(parseReceiverConfig(text)).toMatchObject({ secrets, endpoints: { jobs: { id: "id_of_jobs" } } });

  const spec = declared["kubernetes:apps/v1:Deployment"]?.spec as DeploymentSpec;
  const { containers, volumes } = spec.template.spec;
  expect(volumes).toEqual([
    { name: "webhooks", secret: { secretName: (metadata as { name: string }).name } },
  ]);
  expect(containers[0]?.volumeMounts).toMatchObject([{ name: "webhooks" }]);
  const path = join(containers[0]?.volumeMounts[0]?.mountPath ?? "", file ?? "");
  expect(readFileSync(join(recipes, "kubernetes/receiver.ts"), "utf8")).toContain(`{ path: "${path}" }`);
});

test("the Lambda recipe's function reads the configuration from Secrets Manager, and receives at the endpoint's url", async () => {
  const declared = await declaredBy("lambda");
  const { url } = declared["pulumi-nodejs:dynamic/webhooks:WebhookEndpoint"] ?? {};
  expect(url).toBe("https://receiver.example.com/");
  const { environment } = declared["aws:lambda/function:Function"] ?? {};
  const { variables } = environment as { variables: Record<string, string> };
  expect(declared["aws:iam/rolePolicy:RolePolicy"]).toMatchObject({
    policy: { Statement: [{ Action: "secretsmanager:GetSecretValue", Resource: variables.RECEIVER_SECRET }] },
  });

  const { secretString } = declared["aws:secretsmanager/secretVersion:SecretVersion"] ?? {};
  const configuration = JSON.parse(String(secretValue(secretString)));
  const stored: Record<string, string> = {};
  const manager = await secretsManager(stored);
  try {
    const log = jest.spyOn(console, "log").mockImplementation();
    Object.assign(process.env, variables, manager.environment);
    jest.doMock(SDK, () => jest.requireActual(join(installed, SDK)), { virtual: true });
    const { handler } = await import(join(recipes, "lambda/handler.ts"));
    const status = async (sent: Parameters<typeof delivered>[0]) => {
      const { headers, body } = delivered(sent);
      const event = { requestContext: { http: { method: "POST" } }, headers, body: String(body) };
      return (await handler(event)).statusCode;
    };
    const error = jest.spyOn(console, "error").mockImplementation();
    expect(await status({})).toBe(503);
    expect(error).toHaveBeenCalledTimes(1);
    stored[variables.RECEIVER_SECRET ?? ""] = JSON.stringify({ ...configuration, toleranceSeconds: 100 });
    for (const secret of [...secrets, newSecret()])
      expect(await status({ secret })).toBe(secrets.includes(secret) ? 200 : 401);
    expect(await status({ secret: String(secrets[0]), at: Date.now() - 200_000 })).toBe(401);
    expect(log.mock.calls).toEqual([["job_1 is done"], ["job_1 is done"]]);
  } finally {
    await manager.close();
  }
});

const SDK = "@aws-sdk/client-secrets-manager";

/** Starts a server that answers the only request of the function to Secrets Manager. */
async function secretsManager(values: Readonly<Record<string, unknown>>) {
  const server = http.createServer(async (request, response) => {
    const { SecretId } = (await json(request)) as { SecretId: string };
    response.end(JSON.stringify({ ARN: SecretId, SecretString: values[SecretId] }));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    return new Promise((closed) => server.close(closed));
  };
  const environment = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
  };
  return { environment, close };
}
