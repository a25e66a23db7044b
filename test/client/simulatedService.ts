import type { Dispatcher } from "undici";
import { WebhooksClient, type WebhooksClientOptions } from "../../src/client";
import type { VirtualTime } from "../provider/virtualTime";
import { endpoint } from "./support";

export interface SimulatedServiceOptions {
  readonly clock: VirtualTime;
  /** Returns whether to refuse a request, counted from 0. */
  readonly refuses: (index: number) => boolean;
  /** Of each refusal. Default: 429. */
  readonly status?: number;
  /** Of each refusal. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** How long each response takes, in milliseconds. Default: 30. */
  readonly latencyMs?: number;
  /** Returns a number from 0 up to but not including 1, for the client's jitter. */
  readonly random: () => number;
}

/** A service that answers on a clock moved by hand instead of over a network, so that minutes of waiting take no time. */
export function simulateService(options: SimulatedServiceOptions) {
  const { clock, refuses, status = 429, headers = {}, latencyMs = 30, random } = options;
  const sentAt: number[] = [];
  const controller: Dispatcher.DispatchController = {
    aborted: false,
    paused: false,
    reason: null,
    ...{ abort() {}, pause() {}, resume() {} },
  };
  const reply = (handler: Dispatcher.DispatchHandler, refused: boolean) => {
    handler.onResponseStart?.(controller, refused ? status : 200, refused ? headers : {}, "");
    if (!refused) handler.onResponseData?.(controller, Buffer.from(JSON.stringify(endpoint)));
    handler.onResponseEnd?.(controller, {});
  };
  const dispatcher = {
    dispatch: (_: unknown, handler: Dispatcher.DispatchHandler) => {
      const refused = refuses(sentAt.length);
      sentAt.push(clock.now());
      handler.onRequestStart?.(controller, {});
      clock.after(latencyMs, () => reply(handler, refused));
      return true;
    },
  } as unknown as Dispatcher;
  return {
    sentAt,
    client: (options: Partial<WebhooksClientOptions> = {}, cancelled?: AbortSignal) =>
      new WebhooksClient(
        { baseUrl: "https://api.example.com", apiKey: "k", dispatcher, ...options },
        { clock, random, cancelled },
      ),
  };
}
