import { start } from "../cli/running";
import { receiver } from "../emulator/receiver";
import { EACH_VALUE, harmIn } from "./values";

let running: ReturnType<typeof start> | undefined;
afterEach(async () => void (await running?.stop()));

/** What a browser shows of a page, without its markup: control characters in it would be the sender's. */
const invisible = (page: string) => page.match(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu) ?? [];

test.each(EACH_VALUE)(
  "a sender whose event, job and path are %s is harmless in listen and on its page",
  async (_what, value) => {
    const target = await receiver(
      ...Array.from({ length: 2 }, () => ({ status: 200, headers: {}, body: value })),
    );
    for (const more of [[], ["--json"]]) {
      running = start(["listen", "--port", "0", "--page", "--forward-to", target.url, ...more]);
      const [, url = ""] = await running.until(/(http:\/\/127\.0\.0\.1:\d+)/);
      const [, page = ""] = await running.until(/The page is at (\S+)/);
      const body = JSON.stringify({ type: value, data: { jobId: value.slice(0, 10_000) } });
      const id = value.replace(/[^ -~]/g, "").slice(0, 9_000);
      const path = encodeURI(value).slice(0, 4_000);
      const response = await fetch(`${url}/${path}`, { method: "POST", body, headers: { "webhook-id": id } });
      expect(response.status).toBe(200);
      const shown = await (await fetch(page)).text();
      expect(invisible(shown)).toEqual([]);
      expect(shown.length).toBeLessThan(60_000);
      const { stdout, stderr } = await running.stop();
      // Values of JSON are whole, for programs.
      const harm = harmIn(stdout + stderr).filter(
        (each) => more.length === 0 || !/characters|password/.test(each),
      );
      expect(harm).toEqual([]);
    }
  },
);

test("a hundred large bodies of deep JSON, and a hundred of one delivery, do not stall the page", async () => {
  running = start(["listen", "--port", "0", "--page"]);
  const [, url = ""] = await running.until(/(http:\/\/127\.0\.0\.1:\d+)/);
  const [, page = ""] = await running.until(/The page is at (\S+)/);
  const depth = 250_000;
  for (const headers of [{}, { "webhook-id": "msg_1" }] as Record<string, string>[])
    for (let n = 0; n < 50; n += 1)
      await fetch(url, { method: "POST", body: "[".repeat(depth) + "]".repeat(depth), headers });
  for (const query of ["", "?q=x", "?q=%5B%5B", "?d=1"]) {
    const shown = await (await fetch(page + query)).text();
    expect(shown).toContain("Received deliveries");
    expect(shown.length).toBeLessThan(500_000);
  }
  await running.stop();
});
