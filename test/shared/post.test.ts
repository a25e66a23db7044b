import { openWayTo } from "../../src/shared/post";

const environment = { ...process.env };
afterEach(() => {
  process.env = { ...environment };
});

test.each(["proxy.example.com:8080", "http://proxy.example.com:8080", "socks5://proxy.example.com", ""])(
  "a receiver is reached through the proxy %p",
  async (proxy) => {
    process.env.HTTPS_PROXY = proxy;
    await openWayTo("https://hooks.example.com/jobs").destroy();
  },
);

test("what is no proxy is refused without its value, which may hold a password", () => {
  process.env.HTTPS_PROXY = "ftp://user:passw0rd@proxy.example.com";
  const open = () => openWayTo("https://hooks.example.com/jobs");
  expect(open).toThrow(/HTTPS_PROXY or HTTP_PROXY .* is not the URL of a proxy.*\(INVALID_OPTION\)$/);
  expect(open).not.toThrow(/passw0rd/);
});
