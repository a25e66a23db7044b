/** Where set-up put what programs in other languages need. */
export interface Languages {
  /** Put first on PATH, it gives the language hosts of YAML and Python, `generateSdk`, and a `python3` with Pulumi's SDK. */
  readonly path: string;
}

/** What set-up built; undefined where it did not. */
export function findLanguages(): Languages | undefined;

/** The end of a sentence: how to get the languages if they are missing. */
export const howToGetLanguages: string;

/** Names what is built, with its versions: the folder below Pulumi's that it lies in. */
export const languageSet: string;
