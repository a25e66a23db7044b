import { lineHeaders } from "./headerLines";
import { type Capture, type HeaderPair, headerName, isOurHeader, pairsInTurn } from "./headerPair";

/** JSON that is nested more deeply holds no capture. */
const DEEPEST = 12;

/**
 * Finds the requests in JSON: each object with `headers`, `rawHeaders` or `multiValueHeaders`, such as the entries of an HAR file,
 * an event of AWS Lambda or Lambda@Edge, or a line of a log. Of one within another, it is that with the headers of a delivery. JSON
 * without such an object holds the headers themselves.
 */
export function jsonCaptures(json: unknown): Capture[] {
  const found = requestsIn(json, 0);
  return found.length > 0 ? found : [{ headers: headersOf(json) }];
}

function requestsIn(json: unknown, depth: number): Capture[] {
  if (typeof json !== "object" || json === null || depth > DEEPEST) return [];
  const { rawHeaders, multiValueHeaders, headers } = json as Readonly<Record<string, unknown>>;
  // Those that were sent twice are joined or dropped in `headers`.
  const all = [rawHeaders, multiValueHeaders, headers].filter(
    (each) => typeof each === "string" || (typeof each === "object" && each !== null),
  );
  const given = all.find((each) => Object.keys(each as object).length > 0) ?? all[0];
  const own =
    given === undefined ? undefined : { headers: headersOf(given), ...bodyOf(json), ...arrivalOf(json) };
  if (own?.headers.some(isOurHeader)) return [own];
  const inner = Object.values(withoutAnswer(json)).flatMap((each) => requestsIn(each, depth + 1));
  return own === undefined || inner.some(({ headers }) => headers.some(isOurHeader)) ? inner : [own];
}

/** Leaves out the response that an entry of an HAR file, or a line of a log, has besides the request. */
function withoutAnswer(json: object): object {
  if ("request" in json) return { ...json, response: undefined };
  return "req" in json ? { ...json, res: undefined } : json;
}

/** Reads headers: a record, pairs, names and values in turn (`rawHeaders`), objects with a name and a value (HAR), or text. */
function headersOf(json: unknown): HeaderPair[] {
  if (typeof json === "string") return lineHeaders(json);
  if (!Array.isArray(json))
    return Object.entries(Object(json)).flatMap(([name, value]) =>
      [value]
        .flat()
        .flatMap((one) => (one === null ? [] : [[headerName(name), String(valueIn(one))] as const])),
    );
  if (json.every((each) => typeof each === "string")) return pairsInTurn(json);
  return json.flatMap((each: unknown) => {
    const { name, value } = Array.isArray(each) ? { name: each[0], value: each[1] } : Object(each);
    return typeof name === "string" && value != null ? [[headerName(name), String(value)] as const] : [];
  });
}

/** Returns a header's value. Lambda@Edge has `{ key, value }` for it. */
function valueIn(one: unknown): unknown {
  const { value = one } = Object(one);
  return value;
}

function bodyOf(json: object): Pick<Capture, "body"> {
  const { rawBody, bodyRaw, body, postData, isBase64Encoded } = json as Readonly<Record<string, unknown>>;
  // Pipedream has both `bodyRaw` and the parsed body.
  const given = bodyRaw ?? rawBody ?? body;
  if (given === undefined && typeof postData === "object" && postData !== null) {
    const { text, encoding } = postData as Readonly<Record<string, unknown>>;
    return typeof text === "string"
      ? { body: Buffer.from(text, encoding === "base64" ? "base64" : "utf8") }
      : {};
  }
  if (typeof given === "string")
    return { body: Buffer.from(given, isBase64Encoded === true ? "base64" : "utf8") };
  if (typeof given !== "object" || given === null) return {};
  const { type, data, encoding } = given as Readonly<Record<string, unknown>>;
  // Lambda@Edge
  if (typeof data === "string" && (encoding === "base64" || encoding === "text"))
    return { body: Buffer.from(data, encoding === "base64" ? "base64" : "utf8") };
  // A body that was parsed is taken as JSON.stringify writes it.
  return {
    body: type === "Buffer" && Array.isArray(data) ? Buffer.from(data) : Buffer.from(JSON.stringify(given)),
  };
}

/** When it arrived, as a file of `listen --save` says. */
function arrivalOf(json: object): Pick<Capture, "receivedAt"> {
  const { receivedAt } = json as Readonly<Record<string, unknown>>;
  const milliseconds = typeof receivedAt === "string" ? Date.parse(receivedAt) : Number.NaN;
  return Number.isNaN(milliseconds) ? {} : { receivedAt: Math.floor(milliseconds / 1000) };
}
