import { Log } from "../../src/emulator/log";

describe("a log", () => {
  test("a full log drops its oldest entries and keeps its newest", () => {
    const log = new Log<number>(100);
    for (let n = 0; n < 1000; n += 1) log.add(n);
    expect(log.entries.length).toBeLessThanOrEqual(100);
    expect(log.entries.slice(-90)).toEqual(Array.from({ length: 90 }, (_, n) => 910 + n));
  });
});
