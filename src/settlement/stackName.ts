import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import type { StackName } from "./entry";
import { pulumiHome } from "./files";

/** Where the environment and the folder of the program say that stacks are kept. */
interface Surroundings {
  readonly environment: NodeJS.ProcessEnv;
  /** The program's folder, or one below the folder that has Pulumi.yaml. */
  readonly folder: string;
}

/** The options and variables that tell the backends of a scheme apart whose URLs are alike: an Azure container's name is its account's own. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  azblob: ["storage_account", "AZURE_STORAGE_ACCOUNT"],
  postgres: ["table"],
  s3: ["endpoint", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"],
};

/** Returns the folder that Pulumi's command goes to (engine rule 40). */
export function programFolder({ PULUMI_OPTION_CWD = "" }: NodeJS.ProcessEnv): string {
  return resolve(PULUMI_OPTION_CWD);
}

/** @param urn the root URN of the stack */
export function stackNameOf(urn: string, surroundings: Surroundings): StackName {
  return { urn, backend: backendOf(surroundings) };
}

/** Returns the URL of the backend that Pulumi's command uses, in one spelling; "" if nothing names it. */
export function backendOf({ environment, folder }: Surroundings): string {
  const project = projectFile(resolve(folder));
  const settings = project === undefined ? "" : textOf(project);
  const url = environment.PULUMI_BACKEND_URL || backendIn(settings) || currentLogin(environment);
  const base = project === undefined ? folder : dirname(project);
  return normalized(url, { environment, folder: base });
}

/**
 * Returns whether another stack may have the same name: in a backend that has organizations, whose names no root URN holds, or
 * in one that is unknown.
 */
export function isAmbiguous({ backend }: StackName): boolean {
  return backend === "" || /^https?:/.test(backend);
}

/** Returns the backend that a project file names, in YAML or JSON. */
function backendIn(settings: string): string | undefined {
  const section = /(?:^backend|"backend")\s*:(.*(?:\n(?:[ \t#].*)?)*)/m.exec(settings)?.[1] ?? "";
  return /^[^#\n]*?\burl["']?\s*:\s*["']?([^\s"',}]+)/m.exec(section)?.[1];
}

function currentLogin(environment: NodeJS.ProcessEnv): string {
  const file = join(environment.PULUMI_CREDENTIALS_PATH || pulumiHome(environment), "credentials.json");
  return /"current":\s*"([^"]*)"/.exec(textOf(file))?.[1] ?? "";
}

/** Returns the file of the Pulumi project that a folder is in, or undefined if it is in none. @param folder absolute */
export function projectFile(folder: string): string | undefined {
  const found = ["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"]
    .map((name) => join(folder, name))
    .find(existsSync);
  const parent = dirname(folder);
  return found ?? (parent === folder ? undefined : projectFile(parent));
}

/** Returns the name of the Pulumi project that a folder is in; undefined if it is in none. @param folder absolute */
export function projectName(folder: string): string | undefined {
  const settings = textOf(projectFile(folder) ?? "").replace(/^\uFEFF/, "");
  const [, name] = /^["']?name["']?[ \t]*:[ \t]*["']?([^\s"'#]+)/m.exec(settings) ?? [];
  if (name !== undefined) return name;
  try {
    return JSON.parse(settings).name;
  } catch {
    return undefined;
  }
}

/** Returns the stack that is selected for the project of a folder, as Pulumi's command noted it (engine rule 47). */
export function selectedStack({ environment, folder }: Surroundings): string | undefined {
  const { PWD = "" } = environment;
  // As Go does: PWD keeps the links by which a shell came here.
  const here = withoutLinks(folder);
  const path = projectFile(PWD !== "" && withoutLinks(PWD) === here ? PWD : here) ?? "";
  const file = `${projectName(folder)}-${createHash("sha1").update(path).digest("hex")}-workspace.json`;
  return /"stack":\s*"([^"]*)"/.exec(textOf(join(pulumiHome(environment), "workspaces", file)))?.[1];
}

/**
 * Returns the same string for all spellings of a backend's URL, without what logs a user in. A folder's may be relative, or hold links; of
 * its options only a place counts.
 */
function normalized(url: string, { environment, folder }: Surroundings): string {
  const [address = "", options] = url.split("?");
  const [, scheme = "", path = ""] = /^([^:]*):\/\/(.*)$/.exec(address) ?? [];
  if (scheme === "file") return `file://${withoutLinks(resolve(folder, path.replace(/^~/, homedir())))}`;
  const given = new URLSearchParams(options);
  const place = PLACES[scheme]?.map((name) => given.get(name) || environment[name]).find(Boolean);
  const named = address.replace(/^([^/]*:\/\/)[^/]*@/, "$1").replace(/\/+$/, "");
  return place ? `${named}?${place}` : named;
}

/** A folder that does not exist yet is reached by its parents. */
function withoutLinks(path: string): string {
  if (path === dirname(path)) return path;
  try {
    return realpathSync(path);
  } catch {
    return join(withoutLinks(dirname(path)), basename(path));
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
