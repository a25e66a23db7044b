import { describeUrl } from "../../shared/url";
import { quoted } from "../../shared/words";
import type { CliError } from "../errors";
import type { Output } from "../output";
import { dataOfFailure } from "../run";
import type { Account } from "../service";
import { CLAUSES } from "./clauses";
import type { CheckUrls, Marked } from "./endpoints";
import type { ClauseVerdict, Finding } from "./findings";

const STYLES = { meets: "green", differs: "red", "cannot tell": "yellow" } as const;
const VERDICT_WIDTH = 13;

/** Says what the check sends, before somebody is asked whether it may. */
export function questionOf({
  account: { origin, withStack },
  urls,
  marked: { left, open },
}: {
  account: Account;
  urls: CheckUrls;
  marked: Marked;
}): readonly string[] {
  const mark = urls.own.slice(urls.own.lastIndexOf("check="));
  return [
    `The check sends requests to ${origin.baseUrl}/webhooks, one of them with a wrong API key.`,
    `It registers up to three development endpoints, and deletes them: two for ${describeUrl(urls.own)}, with ${mark} at its end, and one for ${urls.invalid}, which the service should reject.`,
    ...(left.length === 0 ? [] : [`It also deletes what an interrupted check has left: ${left.join(", ")}.`]),
    ...open.map(
      (id) =>
        `${id} stays, although its url has the mark of a check: the service does not show that the check made it, so it may be somebody's. If it is not, delete it with \`${withStack(`npx webhook-endpoints delete ${quoted(id)}`)}\`.`,
    ),
  ];
}

export function leftover(ids: readonly string[], { withStack }: Account): string {
  const what = ids.length === 0 ? "an endpoint of the check" : ids.join(", ");
  return `${what} may still be registered. Run ${withStack("check-service")} with the same url again, or ${withStack("prune")}, or delete it at the service`;
}

/** Prints each clause with its verdict and what came back and, if the service differs, what it should do and what follows. */
export function printFindings(
  findings: readonly Finding[],
  { output, baseUrl, error }: { output: Output; baseUrl: string; error: CliError | undefined },
): void {
  const clauses = findings.map((finding) => ({ ...finding, ...CLAUSES[finding.clause] }));
  const failure = error === undefined ? {} : { error: dataOfFailure(error) };
  output.data({ baseUrl, clauses, ...failure }, () => {
    for (const { clause, verdict, cameBack, service, otherwise } of clauses) {
      output.line(`${verdict.padEnd(VERDICT_WIDTH)}${clause}: ${cameBack}`, STYLES[verdict]);
      if (verdict !== "differs") continue;
      output.line(`${" ".repeat(VERDICT_WIDTH)}The contract: ${service}`);
      output.line(`${" ".repeat(VERDICT_WIDTH)}This package: ${otherwise}`);
    }
    const count = (wanted: ClauseVerdict) => findings.filter(({ verdict }) => verdict === wanted).length;
    output.line(
      `${count("meets")} clauses met, ${count("differs")} not met, ${count("cannot tell")} undecided.`,
      "bold",
    );
  });
}
