import { commandsOf, read } from "../package/pages";
import { cleanUp, run } from "./commandLine";

afterEach(cleanUp);

test("explain prints the entry of a code, with the file that each link leads to", async () => {
  expect(await run(["explain", "STILL_PENDING"])).toEqual({
    status: 0,
    stderr: "",
    stdout: expect.stringMatching(
      /^STILL_PENDING\nFrom: Pulumi, command\.\n\nA pending .* \(docs\/other-languages\.md\) .*\n\nWhat to do: .*\n$/,
    ),
  });
});

test("explain --json prints the entry of a receiver's reason as one value", async () => {
  const { status, stdout } = await run(["explain", "missing-id", "--json"]);
  expect([status, JSON.parse(stdout)]).toEqual([
    0,
    {
      code: "missing-id",
      from: ["receiver", "verify"],
      meaning: "The request has no `webhook-id` header.",
      whatToDo: expect.stringContaining("forward all headers"),
    },
  ]);
});

test.each([
  ["still-pending", "STILL_PENDING"],
  ["(CLOCK_DIFFERS)", "CLOCK_DIFFERS"],
  ["aborted", "aborted"],
  ["ABORTED", "ABORTED"],
])("explain finds %s as %s", async (given, code) => {
  const { stdout } = await run(["explain", given, "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ code });
});

test("explain suggests the code that is nearest to an unknown one, and does not repeat that", async () => {
  const { status, stdout, stderr } = await run(["explain", "ADOPT_MISMACHT"]);
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(
    /^error: there is no such code or reason; did you mean ADOPT_MISMATCH\? .* \(WRONG_USE\)\n$/,
  );
  expect((await run(["explain", "whsec_MfKQ9r8GKYqrTwjUPD8I"])).stderr).not.toContain("MfKQ");
});

test("the page of the command shows what explain prints", async () => {
  const section = read("docs/command.md").split("\n## explain\n")[1]?.split("\n## ")[0] ?? "";
  const [first = ""] = commandsOf(section);
  const shown = /^```text\n(.*?)^```$/ms.exec(section)?.[1];
  expect((await run(first.split(" ").slice(2))).stdout).toBe(shown);
});
