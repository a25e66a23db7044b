import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Option } from "commander";
import { WebhooksClient } from "../../../client";
import { type Clock, systemClock } from "../../../client/clock";
import { COMMAND } from "../../../shared/commandLine";
import { openDispatcher } from "../../../shared/dispatcher";
import { describeUrl } from "../../../shared/url";
import { joined } from "../../../shared/words";
import { DOCS } from "../../docs";
import { CliError } from "../../errors";
import { httpUrl, jsonOption, stackOption, yesOption } from "../../options";
import type { Context, Subcommand } from "../../run";
import { confirm } from "../../terminal";
import { withAccount } from "../../withAccount";
import { CLAUSES, type ClauseId, type Verdict } from "./clauses";
import { ContractCheck } from "./contractCheck";
import { watchForSecrets } from "./secretWatch";

interface Flags {
  readonly url: string;
  readonly yes?: boolean;
}

const STYLES = { meets: "green", differs: "red", "cannot tell": "yellow" } as const;
const VERDICT_WIDTH = 13;
const UNTRIED = [undefined, undefined, "not tried, because another clause comes first"] as const;

/** @param clock measures how long a list lags */
export const checkServiceWith = (clock: Clock): Subcommand<Flags> => ({
  summary: "check whether a service keeps the contract",
  description:
    `Checks the configured service against each clause of the contract (${join(DOCS, "service-contract.md")}), and says what came back, and ` +
    "what this package does if the service differs. It asks first, registers up to five development endpoints, and deletes them.",
  options: [
    new Option("--url <url>", "your own url to register; the service may send it events meanwhile")
      .argParser(httpUrl)
      .makeOptionMandatory(),
    ...[yesOption(), stackOption(), jsonOption()],
  ],
  examples: ["check-service --url https://hooks.example.com/check"],
  run: (context, { url, yes }) =>
    withAccount(context, async ({ origin: { baseUrl }, connection }) => {
      const { output, signal, endItself } = context;
      const question = `Register up to five development endpoints for ${describeUrl(url)} at ${baseUrl}, and delete them again?`;
      if (!(await confirm(context, question, yes)))
        throw new CliError("INTERRUPTED", "nothing was registered, as you did not agree");
      endItself();
      const direct = openDispatcher(connection.baseUrl);
      const leaky: string[] = [];
      const dispatcher = watchForSecrets(direct, (request) => leaky.push(request));
      const settings = { ...connection, dispatcher };
      const client = new WebhooksClient(settings);
      const wrongKey = new WebhooksClient({ ...settings, apiKey: `wrong-key-${randomUUID()}` });
      const check = new ContractCheck({ client, wrongKey, url, clock });
      const verdicts: Verdict[] = [];
      const checking = async () => {
        for await (const verdict of check.run()) {
          verdicts.push(verdict);
          if (signal.aborted) break;
        }
      };
      await output.during(() => "Checking the service…", checking()).finally(() => direct.destroy());
      verdicts.push(["secrets", leaky.length === 0, leaky[0] ?? "no response has one"]);
      const ids = Object.keys(CLAUSES) as ClauseId[];
      const clauses = ids.map((clause) => {
        const [, isKept, cameBack] = verdicts.find(([each]) => each === clause) ?? UNTRIED;
        const verdict = isKept === undefined ? "cannot tell" : isKept ? "meets" : "differs";
        return { clause, verdict, cameBack, ...CLAUSES[clause] } as const;
      });
      const print = () => {
        for (const { clause, verdict, cameBack, service, otherwise } of clauses) {
          output.line(`${verdict.padEnd(VERDICT_WIDTH)}${clause}: ${cameBack}`, STYLES[verdict]);
          if (verdict !== "differs") continue;
          output.line(`${" ".repeat(VERDICT_WIDTH)}The contract: ${service}`);
          output.line(`${" ".repeat(VERDICT_WIDTH)}This package: ${otherwise}`);
        }
      };
      output.outcome({ baseUrl, clauses }, print, errorAfter(context, check.left));
      return clauses.every(({ verdict }) => verdict !== "differs");
    }),
});

/** Returns the error of a check that left something, or was stopped. */
function errorAfter({ pulumi, signal }: Context, left: readonly string[]): CliError | undefined {
  const command = pulumi.withStack(`${COMMAND} list --orphans`);
  if (left.length > 0)
    return new CliError(
      "NOT_DELETABLE",
      `endpoints of the check may still be registered: ${joined(left)}. \`${command}\` shows them, and delete deletes them`,
    );
  return signal.aborted
    ? new CliError("INTERRUPTED", "Ctrl-C ended the check. Nothing of it is left")
    : undefined;
}

export const checkService = checkServiceWith(systemClock);
