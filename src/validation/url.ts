import { isHttpUrl } from "../shared/url";

/** What is wrong with a receiver's url, in words that do not repeat it; undefined when it can be used. */
export function problemOfUrl(url: unknown): string | undefined {
  if (!isHttpUrl(url)) return 'must be an absolute URL that begins with "https://" or "http://"';
  const { username, password } = new URL(url);
  if (username !== "" || password !== "") return "must not contain a user name or password";
  return undefined;
}
