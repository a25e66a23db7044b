import { type Emulator, startEmulator } from "../../src/emulator";
import { receiver } from "../emulator/receiver";
import { visit } from "../page/visit";
import { EACH_VALUE, harmIn } from "./values";

let emulator: Emulator | undefined;
afterEach(async () => void (await emulator?.close()));

/** What a browser shows of a page, without its markup: control characters in it would be the sender's. */
const invisible = (page: string) => page.match(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu) ?? [];

test.each(EACH_VALUE)(
  "a client, an event and a receiver that say %s are harmless in the emulator's warnings and on each tab of its page",
  async (_what, value) => {
    const warnings: string[] = [];
    emulator = await startEmulator({ retryDelaysMs: [0, 0], warn: (message) => warnings.push(message) });
    const refusing = { status: 500, headers: {}, body: value };
    const target = await receiver(...Array.from({ length: 9 }, () => refusing));
    emulator.add({ url: target.url, type: "development" });
    // Anybody may ask for anything, with any body.
    const path = encodeURI(value).slice(0, 4_000);
    const headers = { "x-api-key": "emulator-api-key", "content-type": "application/json" };
    await fetch(`${emulator.url}/${path}`, { method: "POST", headers, body: value });
    const body = JSON.stringify({ url: `https://hooks.example.com/${path}`, type: value, ip: value });
    await fetch(`${emulator.url}/webhooks`, { method: "POST", headers, body });
    await emulator.deliver({ event: value, data: { note: value } });

    expect(warnings).toHaveLength(1);
    expect(harmIn(warnings.join("\n"))).toEqual([]);
    for (const tab of ["deliveries", "endpoints", "faults", "setup"]) {
      const { status, body: shown } = await visit(emulator, `/_emulator/?tab=${tab}`);
      expect(status).toBe(200);
      expect(invisible(shown)).toEqual([]);
      expect(shown.length).toBeLessThan(200_000);
    }
  },
);
