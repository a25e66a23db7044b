import { describeUrl } from "../../src/shared/url";

test("a url with a letter such as ü stays valid, however often it is checked", () => {
  const url = "https://münchen.example/jobs";
  const shown = new Set(Array.from({ length: 50_000 }, () => describeUrl(url)));
  expect([...shown]).toEqual(["https://xn--mnchen-3ya.example/…"]);
});
