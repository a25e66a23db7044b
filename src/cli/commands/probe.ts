import { Argument, Option } from "commander";
import { MOST_SECONDS } from "../../shared/optionChecks";
import { probeReceiver, validateReceiver } from "../../validation/validateReceiver";
import { httpUrl, jsonOption, stackOption, wholeNumber } from "../options";
import type { Subcommand } from "../run";
import { describeSecrets, readSecrets } from "../secrets";

interface Flags {
  readonly wait: number;
}

export const probe: Subcommand<Flags> = {
  summary: "prove that a receiver accepts genuine deliveries and refuses others",
  description:
    "Sends a receiver a genuine delivery and one with a broken signature, for each secret, as a ReceiverValidation does in a Pulumi " +
    "program. The event is webhook.validation, for which a receiver calls no handler.",
  arguments: [new Argument("<url>", "the receiver").argParser(httpUrl)],
  options: [
    new Option("--wait <seconds>", "retry temporary failures for so long, such as a receiver that starts")
      .argParser(wholeNumber(MOST_SECONDS))
      .default(0),
    stackOption(),
    jsonOption(),
  ],
  examples: [
    "probe https://hooks.example.com/jobs --stack prod",
    "probe http://127.0.0.1:8080/jobs --wait 60",
  ],
  async run(context, { wait }, [url = ""]) {
    const { output } = context;
    const signing = await readSecrets(context);
    const receiver = { url, secrets: signing.secrets };
    const validating =
      wait === 0 ? probeReceiver(receiver) : validateReceiver({ ...receiver, timeoutMs: wait * 1_000 });
    const result = await output.during(() => "Waiting for the receiver…", validating);
    const { validated, code, reason, genuine, broken } = result;
    output.data(result, () => {
      output.line(
        validated
          ? `The receiver accepted a delivery that was signed with ${receiver.secrets.length === 1 ? "its secret" : "each secret"} (${genuine.status}), and refused one with a broken signature (${broken.status}).`
          : `Not proven: ${reason} (${code}).`,
      );
      const tried = `Tried ${describeSecrets(signing)}.`;
      const limit = "Only a delivery of the service proves that the service signs with it.";
      output.line(validated ? `${tried} ${limit}` : tried);
      if (!validated) output.response(genuine.body);
    });
    return validated;
  },
};
