// The three programs that are compared. Each declares COUNT endpoints, and nothing else.

/** With this package. */
const ours = `
const { WebhookEndpoint } = require("pulumi-webhook-endpoints");
for (let i = 0; i < Number(process.env.COUNT); i++)
  new WebhookEndpoint("endpoint-" + i, { url: "https://hooks.example.com/" + i, type: "production" });
`;

/** What a user would write without it: a dynamic provider with a small client, which Pulumi serializes by value. */
const byValue = `
const pulumi = require("@pulumi/pulumi");

class Client {
  async request(method, path, body) {
    const response = await fetch(process.env.WEBHOOKS_BASE_URL + path, {
      method,
      headers: { "X-Api-Key": process.env.WEBHOOKS_API_KEY, "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (response.status === 404) return undefined;
    if (!response.ok) throw new Error(method + " " + path + " failed: " + response.status);
    return response.status === 204 ? undefined : response.json();
  }
}

const client = new Client();
const provider = {
  async diff(id, olds, news) {
    const replaces = ["url", "type", "ip"].filter((name) => olds[name] !== news[name]);
    return { changes: replaces.length > 0, replaces };
  },
  async create(inputs) {
    const { url, type, ip } = inputs;
    const endpoint = await client.request("POST", "/webhooks", { url, type, ip });
    return { id: endpoint.id, outs: { url, type, createdAt: null, updatedAt: null } };
  },
  async read(id, props) {
    const endpoint = await client.request("GET", "/webhooks/" + id);
    return endpoint ? { id, props: { ...props, ...endpoint } } : {};
  },
  async delete(id) {
    await client.request("DELETE", "/webhooks/" + id);
  },
};

class WebhookEndpoint extends pulumi.dynamic.Resource {
  constructor(name, args, opts) {
    super(provider, name, { createdAt: undefined, updatedAt: undefined, ...args }, opts);
  }
}

for (let i = 0; i < Number(process.env.COUNT); i++)
  new WebhookEndpoint("endpoint-" + i, { url: "https://hooks.example.com/" + i, type: "production" });
`;

/** The cheapest resource that the same engine can hold: it asks nobody. */
const floor = `
const pulumi = require("@pulumi/pulumi");

const code = "exports.handler=()=>({create:async(i)=>({id:i.url,outs:i}),read:async(id,p)=>({id,props:p})," +
  "diff:async()=>({changes:false}),delete:async()=>{}})";

class Floor extends pulumi.CustomResource {
  constructor(name, args, opts) {
    super("pulumi-nodejs:dynamic/bench:Floor", name, { ...args, __provider: code }, opts);
  }
}

for (let i = 0; i < Number(process.env.COUNT); i++)
  new Floor("endpoint-" + i, { url: "https://hooks.example.com/" + i, type: "production" });
`;

module.exports = { ours, "by value": byValue, floor };
