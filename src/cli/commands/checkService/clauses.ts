/**
 * What the contract asks of a service, and what this package does if the service differs, in the order of the report.
 * `docs/service-contract.md` has the same table; a test compares them.
 */
export const CLAUSES = {
  date: {
    service: "Every response has a `Date` header.",
    otherwise: "Can't compare `createdAt` with your clock. After a lost response, users may have to decide.",
  },
  key: {
    service: "A request with a wrong API key gets 401 or 403.",
    otherwise: "Doesn't recognize a wrong key, and reports another error or none.",
  },
  list: {
    service:
      "`GET /webhooks` responds with 2xx and every endpoint, each once, in one of the shapes below, and announces no further page.",
    otherwise:
      "Can't list, or calls no endpoint missing. After a lost response, users must look for the endpoint themselves.",
  },
  register: {
    service: "`POST /webhooks` responds with 2xx and the `id`, `url` and `type` of a new endpoint.",
    otherwise:
      "After a 4xx other than 408: registers nothing, and fails with `REJECTED`. Otherwise treats the outcome as unknown, and looks for the endpoint in the list. Refuses an endpoint that was there before with `ENDPOINT_EXISTS`.",
  },
  spelling: {
    service:
      "Every response has the url exactly as it was registered, apart from percent-encoding and the like.",
    otherwise:
      "Warns with the url that the service stored, and recognizes its endpoint by that. After a lost response or a kill, users must decide whether an endpoint with another spelling is theirs.",
  },
  "list-lag": {
    service: "Within five seconds, the list contains a new endpoint.",
    otherwise:
      "May miss what a lost or killed registration made. It reports that as pending, or registers a second endpoint: users must look for it themselves.",
  },
  timestamps: {
    service:
      "`createdAt` is the time of the registration on the clock of `Date`, to the second, with a time zone.",
    otherwise: "Can't tell a new endpoint from an old one. After a lost response, users may have to decide.",
  },
  get: {
    service: "`GET /webhooks/{id}` responds with 2xx and the endpoint.",
    otherwise: "Can't check whether an endpoint that a list lacks still exists. A refresh may fail.",
  },
  duplicates: {
    service: "A second registration of the same url and type makes a second endpoint.",
    otherwise:
      "Refuses to take an endpoint that was there before, and can't replace one whose url stays the same, for example to change its `ip`, without `deleteBeforeReplace`.",
  },
  refusals: {
    service: "A registration that the service rejects gets a 4xx other than 408.",
    otherwise:
      "Treats the outcome as unknown, and looks for the endpoint in the list before it reports the error.",
  },
  delete: {
    service: "`DELETE /webhooks/{id}` responds with 2xx.",
    otherwise: "Can't delete endpoints. They stay in the state, or deliver events that nobody wants.",
  },
  deleted: {
    service:
      "Within five seconds, the list no longer contains a deleted endpoint, and a get of it gets 404 or 410.",
    otherwise:
      "Takes it for an endpoint that exists. A refresh keeps its resource, and who declares its url again is stopped. A deletion that is repeated, as after a kill, fails with `STILL_LISTED`: users must take the resource out of the state with `pulumi state delete`.",
  },
  ids: {
    service: "No new endpoint gets the id of a deleted one.",
    otherwise:
      "Tells the new endpoint from the deleted one by `createdAt`. What it can't tell apart, it leaves alone and names, and users must decide.",
  },
  "unknown-id": {
    service: "Get and delete of an id that does not exist, or no longer, get 404 or 410.",
    otherwise:
      "Doesn't notice that an endpoint was deleted outside Pulumi. A refresh or a delete fails instead.",
  },
  secrets: {
    service: "No response contains a signing secret.",
    otherwise: "Ignores it. But whoever may list endpoints can forge deliveries.",
  },
} as const satisfies Record<string, { service: string; otherwise: string }>;

export type ClauseId = keyof typeof CLAUSES;

/** Whether a service keeps a clause, undefined if nobody can tell, and what came back. */
export type Verdict = readonly [clause: ClauseId, isKept: boolean | undefined, cameBack: string];
