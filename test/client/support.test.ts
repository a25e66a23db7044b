import { createServer } from "node:http";
import { cleanUp, listen, onCleanUp } from "./support";

test("cleanUp ends everything in spite of a cleanup that fails, and then reports the failure", async () => {
  const before = createServer();
  const after = createServer();
  await listen(before);
  onCleanUp(() => Promise.reject(new Error("rejected")));
  onCleanUp(() => {
    throw new Error("thrown");
  });
  await listen(after);
  await expect(cleanUp()).rejects.toThrow("cleaning up failed: Error: rejected; Error: thrown");
  expect([before.listening, after.listening]).toEqual([false, false]);
  await cleanUp();
});
