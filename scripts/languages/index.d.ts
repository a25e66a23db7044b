/** Where set-up put what programs in other languages need. */
export interface Languages {
  /** Put first on PATH, it gives the language hosts of YAML and Python, `generateSdk`, and a `python3` with Pulumi's SDK. */
  readonly path: string;
}

/** What set-up built; undefined where it did not. */
export function findLanguages(): Languages | undefined;

/**
 * Builds the language hosts of YAML and Python from Go modules, and a Python environment with Pulumi's SDK, unless they are there
 * already. Where that fails it says so and goes on: the tests that need them then fail with the same words.
 */
export function ensureLanguages(): Promise<void>;

/** The advice for a machine that has none. */
export const howToGetLanguages: string;

/** Names what is built, with its versions: the folder below Pulumi's that it lies in. */
export const languageSet: string;
