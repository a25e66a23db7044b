/** Which deliveries to show. An empty string selects all. */
export interface Filter {
  readonly event: string;
  /** A state of a delivery such as `failed`, or the answer to its last attempt such as `4xx`. */
  readonly status: string;
  readonly endpoint: string;
  /** Part of an id, a url, a body or an answer, in any case. */
  readonly text: string;
}

/** What the query of the page's address selects. */
export interface View extends Filter {
  /** The page of deliveries, from 1. */
  readonly page: number;
  /** The page of endpoints, from 1. */
  readonly endpoints: number;
}

export const FIRST_VIEW: View = { event: "", status: "", endpoint: "", text: "", page: 1, endpoints: 1 };

export function viewOf(query: URLSearchParams): View {
  const string = (name: string) => query.get(name) ?? "";
  const number = (name: string) => Number(query.get(name)) || 1;
  return {
    event: string("event"),
    status: string("status"),
    endpoint: string("endpoint"),
    text: string("text"),
    page: number("page"),
    endpoints: number("endpoints"),
  };
}

export function isFiltered({ event, status, endpoint, text }: Filter): boolean {
  return [event, status, endpoint, text].some((value) => value !== "");
}

/** Returns a link to another view of the page. It is relative, because only the server knows the page's path. */
export function linkTo(view: View, section: string): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(view))
    if (value !== "" && value !== 1) query.set(name, String(value));
  return `./${query.size === 0 ? "" : `?${query}`}#${section}`;
}
