import { sign } from "../../src/signature";
import { receiver } from "../emulator/receiver";
import { OTHER_SECRET, SECRET, start } from "./running";

const BODY = '{"type":"job.failed","data":{"jobId":"job_7"}}';

test("--page shows what arrives with its verdict, and replays what was forwarded", async () => {
  const target = await receiver({ status: 500, headers: {}, body: `no: ${SECRET}` }, 204);
  const args = ["listen", "--port", "0", "--page", "--forward-to", target.url];
  const running = start(args, { env: { WEBHOOK_SECRET: SECRET } });
  const [, url = ""] = await running.until(/^(http:\S+)$/m);
  const [, page = ""] = await running.until(/The page is at (\S+)/);
  const post = (secret: string, id: string) => {
    const timestamp = Math.floor(Date.now() / 1000);
    const headers = { ...sign({ id, timestamp, body: BODY, secret }), cookie: "session=1" };
    return fetch(url, { method: "POST", body: BODY, headers });
  };
  const shown = async (query = "") => (await fetch(`${page}${query}`)).text();

  expect(await shown()).toContain("Waiting for deliveries.");
  await post(SECRET, "msg_good");
  expect(await shown()).toMatch(/job\.failed[\s\S]*signature verified/);
  expect(await shown()).not.toMatch(/Send tampered|Clear the list|Endpoints/);
  await post(OTHER_SECRET, "msg_bad");
  const forged = await shown();
  expect(forged).toContain("refused: signature-mismatch");
  for (const hidden of [SECRET, "session=1"]) expect(forged + (await shown("?d=1"))).not.toContain(hidden);

  const act = (action: string, form: Record<string, string>) =>
    fetch(`${page}${action}`, {
      method: "POST",
      body: new URLSearchParams(form),
      headers: { origin: new URL(page).origin },
      redirect: "manual",
    });
  expect((await act("replay", { target: "2" })).status).toBe(400);
  expect((await act("replay", { target: "1" })).status).toBe(303);
  await running.until(/replayed: 204/);
  expect(target.received.map(({ headers }) => headers["webhook-id"])).toEqual(["msg_good", "msg_good"]);
  expect(await shown("?d=1")).toContain("Replay of attempt 1");
  expect((await running.stop()).status).toBe(0);
});
