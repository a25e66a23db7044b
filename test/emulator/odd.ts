import type { AnswerHook } from "../../src/emulator";
import { isRecord } from "../../src/shared/json";

/** Where an object has the list. */
export type ListShape = "array" | "data" | "items" | "webhooks" | "endpoints" | "results";

/** A service whose lists are objects with the array under a name. */
export function wrapped(shape: ListShape): AnswerHook {
  return ({ operation }, { body, ...rest }) => ({
    ...rest,
    body: operation === "list" && Array.isArray(body) ? { [shape]: body } : body,
  });
}

/** A service that lists so many endpoints at most, and says how to go on: in a member of the object, or in a `Link` header. */
export function inPages(size: number, { shape = "array", sign = "link" }: Pages = {}): AnswerHook {
  return ({ operation }, answer) => {
    const { body } = answer;
    if (operation !== "list" || !Array.isArray(body)) return answer;
    const isMore = body.length > size;
    const part = body.slice(0, size);
    const next = {
      next: isMore ? "/webhooks?cursor=1" : null,
      hasMore: isMore,
      nextCursor: isMore ? "1" : null,
    };
    const headers = sign === "link" && isMore ? { link: `</webhooks?cursor=1>; rel="next"` } : {};
    if (shape === "array") return { ...answer, headers, body: part };
    return {
      ...answer,
      headers,
      body: { [shape]: part, ...(sign === "link" ? {} : { [sign]: next[sign] }) },
    };
  };
}

interface Pages {
  readonly shape?: ListShape;
  readonly sign?: "link" | "next" | "hasMore" | "nextCursor";
}

/** A service that answers with urls in their normal form. */
export const normalizing: AnswerHook = (_request, answer) => ({ ...answer, body: normalized(answer.body) });

function normalized(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(normalized);
  return isRecord(body) && typeof body.url === "string" ? { ...body, url: new URL(body.url).href } : body;
}
