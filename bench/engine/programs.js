// The programs to compare. Each declares COUNT endpoints, and nothing else.

/** With this package. */
const ours = `
const { WebhookEndpoint } = require("pulumi-webhook-endpoints");
for (let i = 0; i < Number(process.env.COUNT); i++)
  new WebhookEndpoint("endpoint-" + i, { url: "https://hooks.example.com/" + i, type: "production" });
`;

/** With the native plugin, as a generated SDK for Node declares an endpoint. */
const native = `
const pulumi = require("@pulumi/pulumi");
for (let i = 0; i < Number(process.env.COUNT); i++)
  new pulumi.CustomResource("webhooks:index:WebhookEndpoint", "endpoint-" + i, { url: "https://hooks.example.com/" + i, type: "production" });
`;

/** The dynamic provider that a user would write for the same job, with checks, timeouts, retries and useful errors. */
const byValue = `
const pulumi = require("@pulumi/pulumi");

const RETRIED = [408, 429, 500, 502, 503, 504];
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

class WebhookApiError extends Error {
  constructor(message, statusCode) {
    super(message);
    this.name = "WebhookApiError";
    this.statusCode = statusCode;
  }
}

class Client {
  constructor(baseUrl, apiKey) {
    if (!baseUrl) throw new Error("The base URL is missing: set WEBHOOKS_BASE_URL.");
    if (!apiKey) throw new Error("The API key is missing: set WEBHOOKS_API_KEY.");
    this.baseUrl = baseUrl.replace(/\\/+$/, "");
    this.apiKey = apiKey;
  }

  async request(method, path, body) {
    const attempts = method === "POST" ? 1 : 4;
    for (let attempt = 1; ; attempt++) {
      let response;
      try {
        response = await fetch(this.baseUrl + path, {
          method,
          headers: { "X-Api-Key": this.apiKey, "Content-Type": "application/json", Accept: "application/json" },
          body: body === undefined ? undefined : JSON.stringify(body),
          redirect: "error",
          signal: AbortSignal.timeout(10000),
        });
      } catch (error) {
        if (attempt >= attempts) throw new WebhookApiError(method + " " + path + " failed: " + error.message);
        await sleep(Math.random() * 250 * 2 ** attempt);
        continue;
      }
      if (response.status === 404) return undefined;
      if (response.status === 401 || response.status === 403)
        throw new WebhookApiError("The API key was refused: check WEBHOOKS_API_KEY.", response.status);
      if (RETRIED.includes(response.status) && attempt < attempts) {
        const seconds = Number(response.headers.get("retry-after"));
        await sleep(seconds > 0 ? Math.min(seconds, 60) * 1000 : Math.random() * 250 * 2 ** attempt);
        continue;
      }
      if (!response.ok)
        throw new WebhookApiError(method + " " + path + " failed with status " + response.status, response.status);
      return response.status === 204 ? undefined : response.json();
    }
  }

  async register(endpoint) {
    const made = await this.request("POST", "/webhooks", endpoint);
    if (!made || typeof made.id !== "string" || made.id === "")
      throw new WebhookApiError("POST /webhooks was answered without an id");
    return made;
  }

  async get(id) {
    const endpoint = await this.request("GET", "/webhooks/" + encodeURIComponent(id));
    if (endpoint && typeof endpoint.url !== "string")
      throw new WebhookApiError("GET /webhooks/" + id + " was answered without a url");
    return endpoint;
  }

  delete(id) {
    return this.request("DELETE", "/webhooks/" + encodeURIComponent(id));
  }
}

function checkUrl(url) {
  if (typeof url !== "string" || url === "") return "url is missing";
  try {
    const { protocol, username, password, hash } = new URL(url);
    if (protocol !== "https:" && protocol !== "http:") return "url must begin with https:// or http://";
    if (username || password) return "url must not contain a user name or password";
    if (hash) return "url must not contain a fragment";
  } catch {
    return "url must be an absolute URL";
  }
}

let client;
const connect = () => (client ??= new Client(process.env.WEBHOOKS_BASE_URL, process.env.WEBHOOKS_API_KEY));

const provider = {
  async check(olds, news) {
    const failures = [];
    const problem = checkUrl(news.url);
    if (problem) failures.push({ property: "url", reason: problem });
    if (news.type !== "production" && news.type !== "development")
      failures.push({ property: "type", reason: 'type must be "production" or "development"' });
    if (news.ip !== undefined && typeof news.ip !== "string")
      failures.push({ property: "ip", reason: "ip must be an IP address or a range" });
    return { inputs: news, failures };
  },
  async diff(id, olds, news) {
    const replaces = ["url", "type", "ip"].filter((name) => olds[name] !== news[name]);
    return { changes: replaces.length > 0, replaces, deleteBeforeReplace: false };
  },
  async create(inputs) {
    const { url, type, ip } = inputs;
    const { id, createdAt = null, updatedAt = null } = await connect().register({ url, type, ip });
    return { id, outs: { url, type, ...(ip ? { ip } : {}), createdAt, updatedAt } };
  },
  async read(id, props) {
    const endpoint = await connect().get(id);
    if (!endpoint) return {};
    const { url, type, createdAt = null, updatedAt = null } = endpoint;
    return { id, props: { ...props, url, type, createdAt, updatedAt } };
  },
  async delete(id) {
    await connect().delete(id);
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

/** The shortest dynamic provider that works, with a client. Pulumi serializes it by value. */
const barest = `
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

/** The cheapest resource that the engine can hold: it calls no service. */
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

module.exports = { ours, native, "by value": byValue, barest, floor };
