import type { CustomResource } from "@pulumi/pulumi";
import type { GetWebhookEndpointArgs, GetWebhookEndpointsArgs } from "../program/queries";
import type { WebhookEndpoint, WebhookEndpointArgs } from "../program/webhookEndpoint";
import type { WebhooksProviderArgs } from "../program/webhooksProvider";
import { type ArgumentName, REQUIRED_ARGUMENTS, type ReplacingArgument } from "../provider/arguments";
import { SETTING_NAMES, SETTINGS, type SettingName } from "../provider/settings";
import {
  NATIVE_TYPE_TOKEN,
  NATIVE_VALIDATION_TYPE_TOKEN,
  TYPE_TOKEN,
  VALIDATION_TYPE_TOKEN,
} from "../shared/permanent";
import type { ReceiverValidation, ReceiverValidationArgs } from "../validation/receiverValidation";

const manifest: { version: string; repository?: { url: string } } = require("../../package.json");

/** The repository's `owner/name` on GitHub. Only a release has one, so that a fork's plugin comes from the fork. */
const [, place, owner] = /github\.com\/(([^/]+)\/.+?)(?:\.git)?$/.exec(manifest.repository?.url ?? "") ?? [];

interface Property {
  readonly type?: "string" | "number" | "boolean" | "array";
  readonly items?: { readonly type: "string" } | { readonly $ref: string };
  readonly $ref?: string;
  readonly description: string;
  readonly secret?: true;
}

/** A property for each argument of the TypeScript type, neither more nor less. */
type PropertiesOf<Args> = { readonly [Name in keyof Required<Args>]: Property };

/** A property for each output of the TypeScript class. */
type OutputsOf<Resource> = PropertiesOf<Omit<Resource, keyof CustomResource>>;

const ANY = "pulumi.json#/Any";

function text(description: string) {
  return { type: "string", description } as const;
}

/** The sentences of the settings. The table in the provider has the rest. */
const settingTexts = {
  baseUrl: "The base URL of the service's API, such as `https://api.example.com/v1`.",
  apiKey: "The service's API key. Always kept as a secret.",
  apiKeyHeader: "The header that carries the key. Default: `X-Api-Key`.",
  apiKeyScheme: "A word before the key in the header, such as `Bearer`. Default: none.",
  timeoutSeconds:
    "The time limit of an operation with its retries, in seconds, at most 3600. Default: 30. One attempt takes at most 10.",
  showResponses:
    "Whether a warning shows the service's response to a request that it refuses: up to 500 characters, without the API key. The response may hold an endpoint's url. Default: false.",
  ifExists:
    "The `ifExists` of endpoints that have none of their own: `fail` (the default), `adopt` or `register`.",
} as const satisfies Readonly<Record<SettingName | keyof WebhooksProviderArgs, string>>;

const settings = Object.fromEntries(
  SETTING_NAMES.map((name) => {
    const { type, variable } = SETTINGS[name];
    const description = `${settingTexts[name]} Environment variable: \`${variable}\`.`;
    return [name, { type, description, ...("isSecret" in SETTINGS[name] && { secret: true }) }];
  }),
) as PropertiesOf<WebhooksProviderArgs> & Record<SettingName, Property>;

const endpointInputs = {
  url: text(
    "An absolute http(s) URL without user info and fragment. The service gets it exactly as written. A change replaces the endpoint.",
  ),
  type: text(
    "`production` or `development`. The service defines what they mean. A change replaces the endpoint.",
  ),
  ip: text(
    "An IPv4 or IPv6 address or CIDR range to filter by. The service never returns it, so its drift cannot be seen. A change replaces the endpoint.",
  ),
  adoptId: text(
    "The id of an existing endpoint to adopt instead of registering a new one. Its url and type must match the declaration. Nothing changes at the service. Once the resource exists, `adoptId` has no effect and may be removed.",
  ),
  ifExists: text(
    "What happens when the service already has an endpoint with this url and type that no resource of this stack has: `fail` (the default) registers nothing and names it, `adopt` adopts it if it is the only one, `register` registers another one on purpose.",
  ),
} as const satisfies PropertiesOf<WebhookEndpointArgs> & Record<ArgumentName, Property>;

const times = {
  createdAt: text("In the service's own format; null until the first refresh."),
  updatedAt: text("In the service's own format; null until the first refresh."),
} as const satisfies Record<string, Property>;

const endpointOutputs = {
  url: text("As declared."),
  type: text("As declared."),
  ip: text("The address filter as declared: the service does not return it."),
  ...times,
} as const satisfies OutputsOf<WebhookEndpoint> & Record<ReplacingArgument, Property>;

/** An endpoint as a function returns it. */
const describedEndpoint = {
  properties: {
    id: text("The id that the service assigned."),
    url: text("In the service's own spelling."),
    type: text("`production` or `development`."),
    ...times,
  },
  required: ["id", "url", "type"],
} as const;

const describedEndpoints = {
  type: "array",
  items: { $ref: "#/types/webhooks:index:Endpoint" },
  description: "The endpoints that fit.",
} as const;

const validationInputs = {
  url: text("Where the receiver listens: an absolute http(s) URL without user-info."),
  secrets: {
    type: "array",
    items: { type: "string" },
    description:
      "What signs its deliveries, `whsec_…`. With several, the receiver must accept each. Always kept as a secret. Give exactly one of `secrets` and `receiver`.",
    secret: true,
  },
  receiver: {
    $ref: ANY,
    description:
      "What `receiverConfig` of a TypeScript program returned. One that names an endpoint is known only once that endpoint is registered. An object, or JSON.",
    secret: true,
  },
  timeoutSeconds: {
    type: "number",
    description: "How long to retry temporary failures, in seconds, at most 3600. Default: 60.",
  },
  triggers: {
    type: "array",
    items: { $ref: ANY },
    description:
      "A list of strings, numbers and booleans, with what changes with each release of the receiver. A change validates again.",
  },
} as const satisfies PropertiesOf<ReceiverValidationArgs>;

const validationOutputs = {
  url: text("As declared."),
  validatedAt: text("When the receiver was last validated by an `up`, in ISO 8601."),
} as const satisfies OutputsOf<ReceiverValidation>;

const endpointDescription = `An endpoint of the webhook service: a URL that it notifies about jobs.

A change of \`url\`, \`type\` or \`ip\` replaces it. The new one is registered before the old one is deleted, so that no event is missed. An endpoint that was deleted behind Pulumi's back is gone on the next \`pulumi refresh\` and registered again by the next \`pulumi up\`.`;

const validationDescription = `Proves at deploy time that a receiver accepts genuine deliveries and refuses others, before events depend on it.

For each secret it sends a signed delivery of the type \`webhook.validation\`, and the same with a broken signature. An endpoint that depends on it is registered only once its receiver works.`;

/**
 * The package as Pulumi's tools see it: what `pulumi package get-schema` prints. `type` and `ifExists` are plain strings, so that
 * the provider's own checks report every problem at once.
 */
export const schema = {
  name: "webhooks",
  displayName: "Webhook endpoints",
  version: manifest.version,
  description: "Webhook endpoints as Pulumi resources, and receivers that are proven at deploy time.",
  keywords: ["pulumi", "webhooks", "standard-webhooks", "category/utility"],
  license: "Apache-2.0",
  // From `pluginDownloadURL`, the CLI downloads the archive of its platform that scripts/plugin.js made.
  ...(place && {
    repository: `https://github.com/${place}`,
    publisher: owner,
    pluginDownloadURL: `github://api.github.com/${place}`,
  }),
  // As `pulumi package add` makes it: with its version, and in Go as a module of its own.
  meta: { moduleFormat: "(.*)", supportPack: true },
  config: { variables: settings },
  provider: {
    description:
      "An account at the webhook service. A setting that is left out is taken from the stack's configuration, then from the environment.",
    inputProperties: settings,
  },
  resources: {
    [NATIVE_TYPE_TOKEN]: {
      description: endpointDescription,
      inputProperties: endpointInputs,
      requiredInputs: REQUIRED_ARGUMENTS,
      properties: endpointOutputs,
      required: ["url", "type"],
      aliases: [{ type: TYPE_TOKEN }],
    },
    [NATIVE_VALIDATION_TYPE_TOKEN]: {
      description: validationDescription,
      inputProperties: validationInputs,
      requiredInputs: ["url"],
      properties: validationOutputs,
      required: ["url", "validatedAt"],
      aliases: [{ type: VALIDATION_TYPE_TOKEN }],
    },
  },
  types: {
    "webhooks:index:Endpoint": {
      type: "object",
      description: "An endpoint as the service describes it.",
      ...describedEndpoint,
    },
  },
  functions: {
    "webhooks:index:getWebhookEndpoint": {
      description:
        "Returns an endpoint that is managed elsewhere, as the service describes it now. It is asked in previews too. A missing one fails the program.",
      inputs: {
        properties: {
          id: describedEndpoint.properties.id,
        } as const satisfies PropertiesOf<GetWebhookEndpointArgs>,
        required: ["id"],
      },
      outputs: describedEndpoint,
    },
    "webhooks:index:getWebhookEndpoints": {
      description:
        "Returns the endpoints of the account, as the service lists them now. It is asked in previews too.",
      inputs: {
        properties: {
          url: text("Only endpoints with this url, in any spelling. Default: all."),
          type: text("Only endpoints of this type. Default: both."),
        } as const satisfies PropertiesOf<GetWebhookEndpointsArgs>,
      },
      outputs: { properties: { endpoints: describedEndpoints }, required: ["endpoints"] },
    },
  },
  language: {
    nodejs: {
      packageName: "pulumi-webhooks",
      packageDescription: "Webhook endpoints as Pulumi resources.",
      respectSchemaVersion: true,
    },
    python: { packageName: "pulumi_webhooks", respectSchemaVersion: true, pyproject: { enabled: true } },
    go: {
      importBasePath: "pulumi-webhooks/sdk/go/webhooks",
      respectSchemaVersion: true,
      generateResourceContainerTypes: true,
    },
    csharp: {
      rootNamespace: "Pulumi",
      namespaces: { webhooks: "Webhooks" },
      packageReferences: { Pulumi: "3.*" },
      respectSchemaVersion: true,
    },
  },
} as const;

export type ResourceToken = keyof typeof schema.resources;
