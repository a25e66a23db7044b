/** What `doctor` found. The codes are stable; `docs/command.md` lists them. Codes of errors may stand in their place. */
export interface Finding {
  /** Only errors make the exit status 1. */
  readonly level: "error" | "note";
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
}

export function error(code: string, message: string, remedy: string): Finding {
  return { level: "error", code, message, remedy };
}

export function note(code: string, message: string, remedy: string): Finding {
  return { level: "note", code, message, remedy };
}
