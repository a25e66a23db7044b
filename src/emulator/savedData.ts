import { isRecord } from "../shared/json";
import type { EmulatedEndpoint, EmulatedEndpointType } from "./endpoint";

/** The signing secrets of each endpoint type, newest first. */
export type SecretsByType = Readonly<Record<EmulatedEndpointType, readonly string[]>>;

/** What survives a restart. A file written by an older version has only `accounts`. */
export interface SavedData {
  readonly apiKey?: string;
  readonly secrets?: SecretsByType;
  readonly accounts: Readonly<Record<string, readonly EmulatedEndpoint[]>>;
}

/** Returns whether a parsed file is a data file of version 1. */
export function isData(data: unknown): data is SavedData {
  if (!isRecord(data) || data.version !== 1 || !isRecord(data.accounts)) return false;
  const { apiKey, secrets } = data;
  if (apiKey !== undefined && typeof apiKey !== "string") return false;
  if (secrets !== undefined && !isSecrets(secrets)) return false;
  return Object.values(data.accounts).every((list) => Array.isArray(list) && list.every(isEndpoint));
}

function isEndpoint(value: unknown): value is EmulatedEndpoint {
  if (!isRecord(value)) return false;
  const strings = [value.id, value.url, value.createdAt, value.updatedAt];
  return (
    strings.every((each) => typeof each === "string") &&
    (value.type === "production" || value.type === "development") &&
    (value.ip === undefined || typeof value.ip === "string")
  );
}

function isSecrets(value: unknown): value is SecretsByType {
  if (!isRecord(value)) return false;
  return [value.production, value.development].every(
    (list) => Array.isArray(list) && list.length > 0 && list.every((secret) => typeof secret === "string"),
  );
}
