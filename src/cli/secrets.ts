import { fingerprintOf, problemsOfSecrets } from "../signature/secret";
import { DEFAULT_TOLERANCE_SECONDS } from "../signature/verify";
import {
  OUTPUT_COMMAND,
  parseConfig,
  RECEIVER_OUTPUT,
  ReceiverConfigError,
} from "../stack/receiverConfigFormat";
import { CliError } from "./errors";
import type { Context } from "./run";

/** What a command signs or verifies with. */
export interface SigningSecrets {
  /** At least one. */
  readonly secrets: readonly string[];
  readonly toleranceSeconds: number;
  /** The secrets of the stack's other receivers, by the names of their outputs. */
  readonly others: ReadonlyMap<string, readonly string[]>;
  /** Where they come from, such as "WEBHOOK_SECRET". */
  readonly source: string;
}

const WAYS =
  "Set WEBHOOK_SECRET (the secret) or WEBHOOK_RECEIVER (what receiverConfig returns, as JSON), or run the command in the folder of " +
  `a Pulumi program whose stack has the output ${RECEIVER_OUTPUT}, logged in to its backend. There, this sets the variable for a command elsewhere: ` +
  `\`export WEBHOOK_RECEIVER="$(${OUTPUT_COMMAND})"\``;

/**
 * Reads the signing secrets: from the stack that `--stack` names, or else from WEBHOOK_SECRET, WEBHOOK_RECEIVER, the selected stack or the
 * person at the terminal, whichever is first. Nothing prints them from then on.
 *
 * @throws CliError `SECRET_MISSING`, `PULUMI_MISSING` or `PULUMI_FAILED`; ReceiverConfigError `CONFIG_INVALID`
 */
export async function readSecrets(context: Context): Promise<SigningSecrets> {
  const found = await findSecrets(context);
  if (!("whyNone" in found)) return found;
  const { terminal, output } = context;
  const missing = `there is no signing secret: ${found.whyNone}`;
  if (!terminal.isInteractive) throw new CliError("SECRET_MISSING", `${missing}. ${WAYS}`);
  output.note(`There is no signing secret: ${found.whyNone}.`);
  const typed = await terminal.question("The signing secret (whsec_…, not shown): ", { hidden: true });
  return hide(context, ofText(typed, "what was typed"));
}

/** The same without a question: why there is none, if there is no secret. @throws as `readSecrets` does */
export async function findSecrets(context: Context): Promise<SigningSecrets | { readonly whyNone: string }> {
  const { env, pulumi } = context;
  const { WEBHOOK_SECRET, WEBHOOK_RECEIVER }: NodeJS.ProcessEnv = pulumi.stack === undefined ? env : {};
  if (WEBHOOK_SECRET) return hide(context, ofText(WEBHOOK_SECRET, "WEBHOOK_SECRET"));
  if (WEBHOOK_RECEIVER) return hide(context, ofConfig(WEBHOOK_RECEIVER, "WEBHOOK_RECEIVER"));
  const found = await ofStack(context);
  return "whyNone" in found ? found : hide(context, found);
}

async function ofStack({ output, pulumi }: Context): Promise<SigningSecrets | { readonly whyNone: string }> {
  const { stack } = pulumi;
  const reading = pulumi.find<Record<string, unknown>>(["stack", "output", "--json", "--show-secrets"]);
  const { value: outputs, whyNone } = await output.during(() => "Reading the stack's outputs…", reading);
  if (outputs === undefined) return { whyNone: `${whyNone}` };
  // A stack that the user named must have one.
  if (stack === undefined && !Object.hasOwn(outputs, RECEIVER_OUTPUT))
    return { whyNone: `the selected stack has no output ${RECEIVER_OUTPUT}` };
  const source = stack === undefined ? "the selected stack" : `the stack ${stack}`;
  const others = new Map<string, readonly string[]>();
  for (const [name, value] of Object.entries(outputs)) {
    const secrets = name === RECEIVER_OUTPUT ? undefined : secretsIn(value);
    if (secrets !== undefined) others.set(name, secrets);
  }
  return { ...ofConfig(outputs[RECEIVER_OUTPUT], `the output ${RECEIVER_OUTPUT} of ${source}`), others };
}

/** Returns the secrets of an output that has a receiver's configuration; undefined for any other output. */
function secretsIn(output: unknown): readonly string[] | undefined {
  try {
    return parseConfig(output, { where: "" }).secrets;
  } catch (error) {
    if (error instanceof ReceiverConfigError) return undefined;
    throw error;
  }
}

function ofConfig(config: unknown, source: string): SigningSecrets {
  return { ...parseConfig(config, { where: `in ${source}` }), others: new Map(), source };
}

/** Names the secrets, by their fingerprints, and where they come from. */
export function describeSecrets({ secrets, source }: SigningSecrets): string {
  return `${secrets.map((each) => `secret ${fingerprintOf([each])}`).join(" and ")} of ${source}`;
}

/** @param text one secret, or several with white space between them, as while one is rotated */
function ofText(text: string, source: string): SigningSecrets {
  const secrets = text.trim().split(/\s+/);
  const problems = problemsOfSecrets(secrets);
  if (problems.length === 0)
    return { secrets, toleranceSeconds: DEFAULT_TOLERANCE_SECONDS, others: new Map(), source };
  throw new ReceiverConfigError("CONFIG_INVALID", `${source} cannot be used: ${problems.join("; ")}`);
}

function hide({ output }: Context, found: SigningSecrets): SigningSecrets {
  for (const secret of [...found.secrets, ...[...found.others.values()].flat()]) output.remember(secret);
  return found;
}
