import { randomUUID } from "node:crypto";
import { Option } from "commander";
import { WebhooksClient } from "../../client";
import { type Clock, systemClock } from "../../client/clock";
import { openDispatcher } from "../../shared/dispatcher";
import { describeUrl } from "../../shared/url";
import { type Account, withAccount } from "../account";
import { confirm } from "../ask";
import { CliError } from "../errors";
import { httpUrl, jsonOption, stackOption, yesOption } from "../options";
import { type Context, type Subcommand, untilStopped } from "../run";
import { CLAUSES, type Verdict } from "./clauses";
import { CheckEndpoints } from "./endpoints";
import { Play } from "./play";
import { Recorder } from "./recorder";

interface Flags {
  readonly url: string;
  readonly stack?: string;
  readonly json?: boolean;
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
  endsItself: true,
  async run(context, { url, stack, yes }) {
    let isRegistering = false;
    const work = withAccount(context, stack, async (account) => {
      const recorder = new Recorder();
      const { env, signal, output } = context;
      const way = openDispatcher(new URL(account.connection.baseUrl), { env });
      const options = { ...account.connection, timeoutMs: account.timeoutMs, dispatcher: recorder.over(way) };
      const client = new WebhooksClient(options);
      const stranger = new WebhooksClient({ ...options, apiKey: `wrong-key-${randomUUID()}` });
      const endpoints = new CheckEndpoints({ client, clock, url });
      const play = new Play({ client, stranger, endpoints, recorder, signal });
      try {
        const doing = () => `Checking the service: ${recorder.answered} responses so far…`;
        await output.during(doing, play.reading());
        output.note(
          `The check registers up to three development endpoints, for ${describeUrl(url)}, and deletes them.`,
        );
        if (!(await confirm(context, `Register them at ${account.origin.baseUrl}?`, yes)))
          throw new CliError("INTERRUPTED", "nothing was registered, as you did not agree");
        isRegistering = true;
        const failure = await output.during(doing, play.registering()).then(
          () => undefined,
          (error: unknown) => ({ error }),
        );
        const left = await output.during(
          () => "Deleting what the check has registered…",
          endpoints.cleanUp(),
        );
        if (failure !== undefined) throw failure.error;
        return report(context, account, { verdicts: play.verdicts, left });
      } finally {
        await Promise.all([client.close(), stranger.close()]);
        await way.destroy();
      }
    });
    return untilStopped(context.signal, work, () => isRegistering);
  },
});

export const checkService = checkServiceWith(systemClock);

interface Result {
  readonly verdicts: readonly Verdict[];
  /** What the check could not delete. */
  readonly left: readonly string[];
}

/** Prints each clause and, if the service differs, what it should do and what follows. Returns whether none differs. @throws CliError */
function report(
  { output, signal }: Context,
  { origin, pulumi }: Account,
  { verdicts, left }: Result,
): boolean {
  const command = pulumi.withStack("npx pulumi-webhook-endpoints list --orphans");
  const error =
    left.length > 0
      ? new CliError(
          "NOT_DELETABLE",
          `endpoints of the check may still be registered: ${left.join(", ")}. \`${command}\` shows them, and delete deletes them`,
        )
      : signal.aborted
        ? new CliError("INTERRUPTED", "Ctrl-C ended the check. Nothing of it is left")
        : undefined;
  const clauses = verdicts.map((each) => ({ ...each, ...CLAUSES[each.clause] }));
  const told = error && { error: { code: error.code, message: error.reason } };
  output.data({ baseUrl: origin.baseUrl, clauses, ...told }, () => {
    for (const { clause, verdict, cameBack, service, otherwise } of clauses) {
      output.line(`${verdict.padEnd(VERDICT_WIDTH)}${clause}: ${cameBack}`, STYLES[verdict]);
      if (verdict !== "differs") continue;
      output.line(`${" ".repeat(VERDICT_WIDTH)}The contract: ${service}`);
      output.line(`${" ".repeat(VERDICT_WIDTH)}This package: ${otherwise}`);
    }
  });
  if (error !== undefined) throw error;
  return verdicts.every(({ verdict }) => verdict !== "differs");
}
