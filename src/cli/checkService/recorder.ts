import type { Dispatcher } from "undici";
import { serverTimeOf } from "../../client/answer";

const SIGNING_SECRET = /whsec_[\w+/=-]{8}/;

/** Looks at every response of a service, which the client's results do not show. */
export class Recorder {
  answered = 0;
  /** The first request whose response had no readable `Date` header. */
  withoutDate: string | undefined;
  /** The first request whose response had a signing secret. */
  withSecret: string | undefined;

  /** Returns the same way to the service, which is recorded. */
  over(way: Dispatcher): Dispatcher {
    return way.compose((dispatch) => (options, handler) => {
      const request = `${options.method} ${options.path}`;
      const chunks: Buffer[] = [];
      return dispatch(options, {
        ...handler,
        onResponseStart: (controller, status, headers, message) => {
          if (status >= 200) {
            this.answered += 1;
            if (serverTimeOf(headers) === null) this.withoutDate ??= request;
          }
          handler.onResponseStart?.(controller, status, headers, message);
        },
        onResponseData: (controller, chunk) => {
          chunks.push(chunk);
          handler.onResponseData?.(controller, chunk);
        },
        onResponseEnd: (controller, trailers) => {
          if (SIGNING_SECRET.test(Buffer.concat(chunks).toString("latin1"))) this.withSecret ??= request;
          handler.onResponseEnd?.(controller, trailers);
        },
      });
    });
  }
}
