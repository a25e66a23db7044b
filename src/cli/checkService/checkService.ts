import { randomUUID } from "node:crypto";
import { Option } from "commander";
import { WebhooksClient } from "../../client";
import { type Clock, systemClock } from "../../client/clock";
import { openDispatcher } from "../../shared/dispatcher";
import { describeUrl } from "../../shared/url";
import { withAccount } from "../account";
import { confirm } from "../ask";
import { CliError } from "../errors";
import { httpUrl, jsonOption, stackOption, yesOption } from "../options";
import type { Subcommand } from "../run";
import { CLAUSES } from "./clauses";
import { Play } from "./play";
import { Responses } from "./responses";

interface Flags {
  readonly url: string;
  readonly yes?: boolean;
}

const STYLES = { meets: "green", differs: "red", "cannot tell": "yellow" } as const;
const VERDICT_WIDTH = 13;

/** @param clock measures how long a list lags */
export const checkServiceWith = (clock: Clock): Subcommand<Flags> => ({
  description:
    "Plays the contract (docs/service-contract.md) at the configured service, and says of each clause whether the service meets it, what came " +
    "back, and what this package does if it differs. It asks first, registers up to three development endpoints, and deletes them.",
  options: [
    new Option("--url <url>", "your own url to register; the service may send it events meanwhile")
      .argParser(httpUrl)
      .makeOptionMandatory(),
    ...[yesOption(), stackOption(), jsonOption()],
  ],
  examples: ["check-service --url https://hooks.example.com/check"],
  run: (context, { url, yes }) =>
    withAccount(context, async (account) => {
      const { env, output, signal, endItself } = context;
      const { baseUrl } = account.origin;
      output.note(
        `The check registers up to three development endpoints, for ${describeUrl(url)}, and deletes them.`,
      );
      if (!(await confirm(context, `Register them at ${baseUrl}?`, yes)))
        throw new CliError("INTERRUPTED", "nothing was registered, as you did not agree");
      endItself();
      const responses = new Responses();
      const way = openDispatcher(new URL(account.connection.baseUrl), { env });
      const settings = { ...account.connection, dispatcher: responses.watch(way) };
      const client = new WebhooksClient(settings);
      const stranger = new WebhooksClient({ ...settings, apiKey: `wrong-key-${randomUUID()}` });
      const play = new Play({ client, stranger, responses, url, clock, signal });
      let left: string[] = [];
      try {
        const playing = play.run().finally(async () => {
          left = await play.cleanUp();
        });
        await output.during(() => `Checking the service: ${responses.count} responses so far…`, playing);
      } finally {
        await way.destroy();
      }
      const clauses = play.verdicts.map((each) => ({ ...each, ...CLAUSES[each.clause] }));
      const print = () => {
        for (const { clause, verdict, cameBack, service, otherwise } of clauses) {
          output.line(`${verdict.padEnd(VERDICT_WIDTH)}${clause}: ${cameBack}`, STYLES[verdict]);
          if (verdict !== "differs") continue;
          output.line(`${" ".repeat(VERDICT_WIDTH)}The contract: ${service}`);
          output.line(`${" ".repeat(VERDICT_WIDTH)}This package: ${otherwise}`);
        }
      };
      const command = context.pulumi.withStack("npx pulumi-webhook-endpoints list --orphans");
      const error =
        left.length > 0
          ? new CliError(
              "NOT_DELETABLE",
              `endpoints of the check may still be registered: ${left.join(", ")}. \`${command}\` shows them, and delete deletes them`,
            )
          : signal.aborted
            ? new CliError("INTERRUPTED", "Ctrl-C ended the check. Nothing of it is left")
            : undefined;
      output.outcome({ baseUrl, clauses }, print, error);
      return clauses.every(({ verdict }) => verdict !== "differs");
    }),
});

export const checkService = checkServiceWith(systemClock);
