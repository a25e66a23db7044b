import type { Endpoint, EndpointList } from "../../client";
import { parseTimestamp, placeIn, windowOf } from "../../settlement/time";
import { CLAUSE_IDS, type ClauseId } from "./clauses";
import {
  described,
  type Exchange,
  hasDate,
  isBroken,
  isRedirect,
  isRefused,
  mentionsSecret,
  type Performed,
  problemOf,
} from "./wire";

export type ClauseVerdict = "meets" | "differs" | "cannot tell";

/** Whether a service keeps a clause, and what came back. */
export interface Finding {
  readonly clause: ClauseId;
  readonly verdict: ClauseVerdict;
  readonly cameBack: string;
}

/** The longest timestamp that a finding quotes whole, in characters. */
const LONGEST_SHOWN = 60;
const WEIGHT: Readonly<Record<ClauseVerdict, number>> = { meets: 1, "cannot tell": 2, differs: 3 };

/** Collects what a check finds. What differs once differs. */
export class Findings {
  readonly #found = new Map<ClauseId, Finding>();

  add(clause: ClauseId, verdict: ClauseVerdict, cameBack: string): void {
    const before = this.#found.get(clause);
    if (before === undefined || WEIGHT[before.verdict] < WEIGHT[verdict])
      this.#found.set(clause, { clause, verdict, cameBack });
  }

  /** Returns whether a clause was tried, and the service keeps it. */
  keeps(clause: ClauseId): boolean {
    return this.#found.get(clause)?.verdict === "meets";
  }

  /** Judges what an operation led to by the clause about that operation. Returns its value if it has one. */
  operation<T>(clause: ClauseId, performed: Performed<T>): T | undefined {
    const { exchanges, error, value } = performed;
    const came = described(exchanges);
    const isOther = exchanges.some(isRedirect) || error?.code === "UNREACHABLE";
    if (exchanges.length === 0) this.add(clause, "cannot tell", `${came}: ${error?.code}`);
    else if (isOther) this.add(clause, "cannot tell", came);
    else if (exchanges.some(isBroken)) this.add(clause, "differs", came);
    else if (error !== undefined) this.add(clause, "differs", `${came}, ${problemOf(performed)}`);
    else this.add(clause, "meets", came);
    return value;
  }

  wholeList({ complete }: EndpointList): void {
    this.add(
      "whole-list",
      complete ? "meets" : "differs",
      complete ? "a complete list" : "a part of the list",
    );
  }

  /**
   * Judges the times of the endpoint that was registered, as a response shows it.
   *
   * @param options.sentAt the service's time before the registration, in milliseconds since 1970; null if it does not tell it
   */
  times(
    { createdAt }: Endpoint,
    { sentAt, patienceMs }: { readonly sentAt: number | null; readonly patienceMs: number },
  ): void {
    const came = `createdAt is ${JSON.stringify(createdAt?.slice(0, LONGEST_SHOWN) ?? null)}`;
    const place = placeIn(windowOf(sentAt, patienceMs), createdAt);
    if (createdAt === null || Number.isNaN(parseTimestamp(createdAt)))
      this.add("timestamps", "differs", `${came}, which is not a time with a time zone`);
    else if (place === "outside")
      this.add("timestamps", "differs", `${came}, and Date was ${new Date(sentAt ?? 0).toUTCString()}`);
    else if (place === "across")
      this.add("timestamps", "cannot tell", `${came}, which may be a whole minute by chance; check again`);
    else this.add("timestamps", "meets", came);
  }

  /** Judges the clauses about every response, and lists that failed, some of which no finding has told. */
  responses(exchanges: readonly Exchange[]): void {
    // The list with another key has a clause of its own.
    const isList = ({ method, path, isStranger }: Exchange) =>
      method === "GET" && path === "/webhooks" && !isStranger;
    const failed = exchanges.find((each) => isList(each) && (isBroken(each) || isRefused(each)));
    if (failed !== undefined) this.add("list", "differs", described([failed]));
    const answered = exchanges.filter(({ status }) => status !== undefined);
    const judge = (clause: ClauseId, isWrong: (each: Exchange) => boolean, what: string) => {
      const wrong = answered.find(isWrong);
      if (wrong !== undefined) this.add(clause, "differs", `${described([wrong])}, ${what}`);
      else if (answered.length > 0) this.add(clause, "meets", `${answered.length} responses, none ${what}`);
    };
    judge("date", (each) => !hasDate(each), "without a readable Date header");
    judge("redirects", isRedirect, "a redirect");
    judge("secrets", mentionsSecret, "with a signing secret");
  }

  all(): readonly Finding[] {
    const untried = (clause: ClauseId): Finding => ({
      clause,
      verdict: "cannot tell",
      cameBack: "nothing was sent, because another clause comes first",
    });
    return CLAUSE_IDS.map((clause) => this.#found.get(clause) ?? untried(clause));
  }
}
