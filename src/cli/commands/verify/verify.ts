import { Option } from "commander";
import { readCapture } from "../../capture";
import { jsonOption, moment, stackOption } from "../../options";
import type { Subcommand } from "../../run";
import { readSecrets } from "../../secrets";
import { diagnose, longestAge } from "./diagnose";

interface Flags {
  readonly capture: string;
  readonly at?: number;
}

export const verify: Subcommand<Flags> = {
  summary: "find out why a captured delivery does not verify",
  description:
    "Verifies a captured delivery. If it does not verify, names the usual cause that explains it, and what to do. A capture is old, so " +
    "its age counts only with --at.",
  options: [
    new Option(
      "--capture <file>",
      "a file of listen --save, JSON with headers and body, or a whole request",
    ).makeOptionMandatory(),
    new Option("--at <time>", "when the receiver got it, such as 2026-11-21T09:30:00Z").argParser(moment),
    stackOption(),
    jsonOption(),
  ],
  examples: [
    "verify --capture captures/1795253400000-msg_2Lh9.json",
    "verify --capture request.txt --stack dev --at 2026-11-21T09:30:00Z",
  ],
  async run(context, { capture: path, at }) {
    const { output } = context;
    const capture = await readCapture(path);
    const signing = await readSecrets(context);
    const now = Math.floor(Date.now() / 1000);
    // A file of `listen --save` says when it arrived.
    const receivedAt = at ?? capture.receivedAt;
    const diagnosis = diagnose({ capture, signing, receivedAt, now });
    output.data(diagnosis, () => {
      const { secret } = diagnosis;
      if (diagnosis.verified) {
        output.line(`Verified: ${diagnosis.id} was signed with the secret ${secret}.`);
        output.line(`It was sent at ${new Date(diagnosis.timestamp * 1000).toISOString()}.`);
        if (receivedAt === undefined && diagnosis.ageSeconds > longestAge(signing))
          output.note("A receiver refuses it now as too old. To check when it was received, add --at.");
        return;
      }
      output.line(`Not verified: ${diagnosis.cause}.`);
      output.line(diagnosis.finding);
      if (secret !== null) output.line(`It was signed with the secret ${secret}.`);
      output.line(`What to do: ${diagnosis.advice}`);
    });
    return diagnosis.verified;
  },
};
