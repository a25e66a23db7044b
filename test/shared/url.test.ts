import { describeUrl, hostMistake, isAddressOrRange, isUnreachableHost, sameUrl } from "../../src/shared/url";

test.each([
  ["https://hooks.example.com:8443/t0ken?t0ken", "https://hooks.example.com:8443/…"],
  ["app://queue/t0ken", "app://queue/…"],
  ["mailto:t0ken@example.com", "mailto:///…"],
  ["t0ken", "(not a url)"],
])("describeUrl shows no token of %s", (url, shown) => {
  expect(describeUrl(url)).toBe(shown);
});

test("a url with a letter such as ü stays valid, however often it is checked", () => {
  const url = "https://münchen.example/jobs";
  const shown = new Set(Array.from({ length: 50_000 }, () => describeUrl(url)));
  expect([...shown]).toEqual(["https://xn--mnchen-3ya.example/…"]);
});

test.each([
  ["HTTPS://Hooks.Example.com:443", "https://hooks.example.com/", true],
  ["https://a.example/%7Ejobs?q=%2fa", "https://a.example/~jobs?q=%2Fa", true],
  ["https://a.example/jobs?q={a|b}", "https://a.example/jobs?q=%7Ba%7Cb%7D", true],
  ["https://a.example/jobs", "https://a.example/jobs/", false],
  ["https://a.example/jobs", "https://a.example/Jobs", false],
  ["https://a.example/a%2Fb", "https://a.example/a/b", false],
  ["not a url", "not a url", true],
])("whether %s and %s differ in spelling only is %s", (a, b, same) => {
  expect(sameUrl(a, b)).toBe(same);
});

test.each([
  ...["localhost", "app.localhost", "127.0.0.1", "0.0.0.0", "10.0.0.3", "172.31.255.255", "192.168.1.1"],
  ...["169.254.169.254", "100.64.0.1", "[::1]", "[fd00::1]", "[fe80::1]", "[::ffff:10.0.0.1]"],
  ...["receiver:8080", "jobs.internal", "a.svc.cluster.local", "printer.local.", "HOST.docker.INTERNAL"],
])("a service on the internet cannot reach %s", (host) => {
  expect(isUnreachableHost(new URL(`https://${host}/jobs`))).toBe(true);
});

test.each([
  ...["hooks.example.com", "hooks.example.com.", "internal.example.com", "local.dev", "localhost.example"],
  ...["172.32.0.1", "8.8.8.8", "100.128.0.1", "[2001:db8::1]"],
])("a service on the internet may reach %s", (host) => {
  expect(isUnreachableHost(new URL(`https://${host}/jobs`))).toBe(false);
});

test.each([
  ["https://undefined/jobs", "undefined"],
  ["https://UNDEFINED:8443", "undefined"],
  ["http://null?token=1", "null"],
  ["https://NaN/", "nan"],
  ["https://user@undefined/jobs", "undefined"],
  ["https://https://hooks.example.com", "https"],
  ["https://HTTP//hooks.example.com", "http"],
])("%s has a host that a program made by mistake", (url, host) => {
  expect(hostMistake(url)).toContain(`has the host "${host}": `);
});

test.each([
  ...[
    "https://hooks.example.com/undefined",
    "https://undefined.example.com",
    "https://http.dev",
    "undefined",
  ],
  ...["https://hooks.example.com/?to=https://null", "https://nullable.example", "mailto:null"],
])("the host of %s is no mistake", (url) => {
  expect(hostMistake(url)).toBeUndefined();
});

test.each([
  ["203.0.113.7", true],
  ["203.0.113.0/24", true],
  ["2001:db8::/32", true],
  ["203.0.113.0/33", false],
  ["203.0.113.0/024", false],
  ["fe80::1%eth0", false],
  ["203.0.113.0/24/8", false],
  ["example.com", false],
  [7, false],
])("whether %s is an address or a range of them is %s", (value, valid) => {
  expect(isAddressOrRange(value)).toBe(valid);
});
