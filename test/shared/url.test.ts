import { describeUrl } from "../../src/shared/url";

test.each([
  ["https://hooks.example.com:8443/t0ken?t0ken", "https://hooks.example.com:8443/…"],
  ["app://queue/t0ken", "app://queue/…"],
  ["mailto:t0ken@example.com", "mailto:…"],
  ["t0ken", "(not a url)"],
])("%s is shown as %s", (url, shown) => {
  expect(describeUrl(url)).toBe(shown);
});

test("a url with a letter such as ü stays valid, however often it is checked", () => {
  const url = "https://münchen.example/jobs";
  const shown = new Set(Array.from({ length: 50_000 }, () => describeUrl(url)));
  expect([...shown]).toEqual(["https://xn--mnchen-3ya.example/…"]);
});
