import type { WebhooksClient } from "../client/client";
import type { WebhooksClientOptions } from "../client/options";
import type { ResolvedSettings } from "../provider/settings";
import { describeResponse, hasResponse } from "../provider/shownResponse";

/** Opens the service for some work, and closes it. A refusal is shown by `warn`, if the settings say so, or its error says how to see it. */
export async function withClient<T>(
  { settings, showResponses }: ResolvedSettings,
  warn: (message: string) => unknown,
  work: (client: WebhooksClient, connection: WebhooksClientOptions & { timeoutMs: number }) => Promise<T>,
): Promise<T> {
  const { timeoutSeconds, ...service } = settings;
  const connection = { ...service, timeoutMs: timeoutSeconds * 1000 };
  // Only now: most programs ask nothing, and the client takes undici, which would make each start 0.07 s longer.
  const { WebhooksClient } = await import("../client/client");
  const client = new WebhooksClient(connection);
  try {
    return await work(client, connection);
  } catch (error) {
    if (showResponses && hasResponse(error)) await warn(describeResponse(error, service.apiKey));
    throw error;
  } finally {
    await client.close();
  }
}
