import { WebhookEndpointNotFoundError } from "../../src/client";
import { answer, apiKey, cleanUp, endpoint, rejection, serve } from "./support";

afterEach(cleanUp);

test("a client registers, lists, gets and deletes an endpoint", async () => {
  const { id, url, type } = endpoint;
  const server = await serve(
    answer(201, { id, url, type }),
    answer(200, [endpoint]),
    answer(200, endpoint),
    answer(204),
    answer(404, { error: "unknown" }),
  );
  const client = server.client();

  expect(await client.register({ url, type, ip: "192.0.2.0/24" })).toEqual({
    id,
    url,
    type,
    createdAt: null,
    updatedAt: null,
  });
  expect((await client.list()).endpoints).toEqual([endpoint]);
  expect(await client.get(id)).toEqual(endpoint);
  expect(await client.delete(id)).toBeUndefined();
  expect(await rejection(client.get(id))).toBeInstanceOf(WebhookEndpointNotFoundError);

  expect(server.received.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "POST /webhooks",
    "GET /webhooks",
    "GET /webhooks/wh_1",
    "DELETE /webhooks/wh_1",
    "GET /webhooks/wh_1",
  ]);
  expect(JSON.parse(server.received[0]?.body ?? "")).toEqual({ url, type, ip: "192.0.2.0/24" });
  expect(server.received.every(({ headers }) => headers["x-api-key"] === apiKey)).toBe(true);
});
