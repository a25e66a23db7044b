import type { Answer } from "./respond";

/** The shape of a list: a bare array, or an object with the array under this name. */
export type ListShape = "array" | "data" | "items" | "webhooks" | "endpoints" | "results";

/** How a partial list announces the next page: a member of the object, or a `Link` header. */
export type MoreSign = "next" | "hasMore" | "has_more" | "nextCursor" | "link";

export interface Listing {
  readonly shape: ListShape;
  /** Endpoints per page. Undefined puts all of them on one page. */
  readonly pageSize: number | undefined;
  readonly moreSign: MoreSign;
}

/** Returns the page that starts at the offset in `?cursor=`, and announces the next page if there is one. */
export function listAnswer(
  all: readonly unknown[],
  { shape, pageSize, moreSign }: Listing,
  { path, cursor }: { path: string; cursor: string | null },
): Answer {
  const start = /^\d{1,9}$/.test(cursor ?? "") ? Number(cursor) : 0;
  const page = pageSize === undefined ? all : all.slice(start, start + pageSize);
  const end = start + page.length;
  const next = pageSize !== undefined && end < all.length ? String(end) : null;
  const nextPath = next === null ? null : `${path}?cursor=${next}`;
  const headers = moreSign === "link" && nextPath !== null ? { link: `<${nextPath}>; rel="next"` } : {};
  if (shape === "array") return { status: 200, headers, body: page };
  const signs = { next: nextPath, hasMore: next !== null, has_more: next !== null, nextCursor: next };
  const sign = pageSize === undefined || moreSign === "link" ? {} : { [moreSign]: signs[moreSign] };
  return { status: 200, headers, body: { [shape]: page, ...sign } };
}
