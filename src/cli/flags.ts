import { Option } from "commander";

/** The options that several commands have. */
export interface InventoryFlags {
  readonly stack?: string;
  readonly alsoStack: readonly string[];
  readonly json?: boolean;
}

export function stackOption(): Option {
  return new Option("-s, --stack <name>", "the stack whose settings are used (default: the selected one)");
}

export function alsoStackOption(): Option {
  const collect = (name: string, names: readonly string[]) => [...names, name];
  return new Option(
    "--also-stack <name>",
    "also look in this stack of another project, such as acme/shop/prod; repeatable",
  )
    .argParser(collect)
    .default([], "none");
}

export function jsonOption(): Option {
  return new Option("--json", "print JSON on standard output, and nothing else");
}
