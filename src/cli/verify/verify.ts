import { Option } from "commander";
import { readCapture } from "../capture";
import { jsonOption, stackOption } from "../options";
import type { Subcommand } from "../run";
import { readSecrets } from "../secrets";
import { diagnose } from "./diagnose";

interface Flags {
  readonly capture: string;
}

export const verify: Subcommand<Flags> = {
  summary: "find out why a captured delivery does not verify",
  description:
    "Verifies a captured delivery. If it does not verify, names the usual cause that explains it, and what to do. A capture is old, so " +
    "its age counts only if the file has receivedAt, as one of listen --save has.",
  options: [
    new Option(
      "--capture <file>",
      "a file of listen --save, or JSON with headers and body",
    ).makeOptionMandatory(),
    stackOption(),
    jsonOption(),
  ],
  examples: [
    "verify --capture captures/1795253400000-msg_2Lh9.json",
    "verify --capture event.json --stack dev",
  ],
  async run(context, { capture: path }) {
    const { output } = context;
    const capture = await readCapture(path);
    const signing = await readSecrets(context);
    const diagnosis = diagnose({ capture, signing, now: Math.floor(Date.now() / 1000) });
    output.data(diagnosis, () => {
      const { secret } = diagnosis;
      if (diagnosis.verified) {
        output.line(`Verified: ${diagnosis.id} was signed with the secret ${secret}.`);
        output.line(`It was sent at ${new Date(diagnosis.timestamp * 1000).toISOString()}.`);
        if (capture.receivedAt === undefined && diagnosis.ageSeconds > signing.toleranceSeconds)
          output.note("A receiver refuses it now as too old.");
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
