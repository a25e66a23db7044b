import type { Dispatcher } from "undici";
import { WebhookError } from "../../client";
import { serverTimeOf } from "../../client/answer";

const SIGNING_SECRET = /whsec_[\w+/=-]{8}/;

/** The responses of a service, and the first requests whose responses differ in what the client's results do not show. */
export class Responses {
  count = 0;
  withoutDate: string | undefined;
  withSecret: string | undefined;

  /** Returns the same way to the service, which is watched. */
  watch(way: Dispatcher): Dispatcher {
    return way.compose((dispatch) => (options, handler) => {
      const request = `${options.method} ${options.path}`;
      let text = "";
      return dispatch(options, {
        ...handler,
        onResponseStart: (controller, status, headers, message) => {
          this.count += 1;
          if (serverTimeOf(headers) === null) this.withoutDate ??= request;
          handler.onResponseStart?.(controller, status, headers, message);
        },
        onResponseData: (controller, chunk) => {
          text += chunk.toString("latin1");
          if (SIGNING_SECRET.test(text)) this.withSecret ??= request;
          handler.onResponseData?.(controller, chunk);
        },
      });
    });
  }
}

/** What a request led to. */
export interface Outcome<T> {
  readonly value?: T;
  readonly error?: WebhookError;
  readonly cameBack: string;
}

export async function outcomeOf<T>(answer: Promise<T>): Promise<Outcome<T>> {
  try {
    return { value: await answer, cameBack: "2xx" };
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    return { error, cameBack: `${error.statusCode ?? "no response"} (${error.code})` };
  }
}
