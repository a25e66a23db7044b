import { isUrl } from "../../isUrl";

/** How long a name made from a host may be, in characters. */
const MAX_LENGTH = 40;

/**
 * Returns a function that names resources after the host of an endpoint's url. The rest of a url may hold a token, and names
 * stand in messages and in the state.
 *
 * @param taken the names that the program has already
 */
export function namer(taken: Iterable<string>): (url: string) => string {
  const used = new Set(taken);
  return (url) => {
    const host = isUrl(url) ? new URL(url).hostname : "";
    const base = slugOf(host) || "endpoint";
    let name = base;
    for (let number = 2; used.has(name); number++) name = `${base}-${number}`;
    used.add(name);
    return name;
  };
}

/** Returns a host as a name that begins with a letter, so that generated code can use it as an identifier. */
function slugOf(host: string): string {
  const slug = host
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_LENGTH)
    .replace(/^-+|-+$/g, "");
  return /^[0-9]/.test(slug) ? `endpoint-${slug}` : slug;
}
