import type { WebhooksClient } from "../client/client";
import type { ResolvedSettings } from "./settings";
import { describeResponse, hasResponse } from "./shownResponse";

/** Opens the service for some work, and closes it. A refusal is shown by `warn`, if the settings say so. */
export async function withClient<T>(
  { settings, showResponses }: ResolvedSettings,
  warn: (message: string) => unknown,
  work: (client: WebhooksClient) => Promise<T>,
): Promise<T> {
  // Only now: most programs ask nothing, and the client takes undici, which would make each start 0.07 s longer.
  const { WebhooksClient } = await import("../client/client");
  const client = new WebhooksClient(settings);
  try {
    return await work(client);
  } catch (error) {
    if (showResponses && hasResponse(error)) await warn(describeResponse(error, settings.apiKey));
    throw error;
  } finally {
    await client.close();
  }
}
