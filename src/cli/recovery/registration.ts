import type { Endpoint, EndpointType } from "../../client";
import {
  type Deployment,
  interruptedRegistrations,
  plainText,
  type Resource,
} from "../../settlement/deployment";
import { parseTimestamp } from "../../endpoint/settlement";
import { CliError } from "../errors";

/** A registration that a run began and did not record: the service may have it or not. */
export interface InterruptedRegistration {
  /** Its place among the interrupted registrations of the state. */
  readonly index: number;
  readonly urn: string;
  readonly url: string;
  readonly type: EndpointType;
  readonly ip?: string;
  /** The endpoint to adopt instead, if the service still has it. Absent for a replacement, where adoptId has no effect. */
  readonly adoptId?: string;
}

/**
 * Returns the registrations that runs began and did not record, in the state's order.
 *
 * @param plain the state with its secrets decrypted
 * @throws CliError `STATE_UNREADABLE`
 */
export function registrationsOf(plain: Deployment): InterruptedRegistration[] {
  return interruptedRegistrations(plain).map((resource, index) => registrationOf(resource, index, plain));
}

function registrationOf(
  { urn, inputs }: Resource,
  index: number,
  plain: Deployment,
): InterruptedRegistration {
  const url = plainText(inputs, "url");
  const type = plainText(inputs, "type");
  const ip = plainText(inputs, "ip");
  if (url === undefined || (type !== "production" && type !== "development"))
    throw new CliError(
      "STATE_UNREADABLE",
      `the interrupted registration of ${urn} has no readable url or type in the state. Find the operation with \`pulumi stack export\`. The state was not changed`,
    );
  const adoptId = plainText(inputs, "adoptId");
  const isReplacement = resourceOf(urn, plain) !== undefined;
  return {
    index,
    urn,
    url,
    type,
    ...(ip === undefined ? {} : { ip }),
    ...(adoptId === undefined || isReplacement ? {} : { adoptId }),
  };
}

/** Returns whether a run that began at `since` or later has recorded an endpoint with the same arguments for this resource. */
export function isRecordedSince(
  since: number,
  registration: InterruptedRegistration,
  plain: Deployment,
): boolean {
  const own = resourceOf(registration.urn, plain);
  return own !== undefined && hasArguments(own, registration) && Date.parse(own.created ?? "") >= since;
}

/**
 * Returns whether the state already has what the program declares for this resource, so that the endpoint is one too many:
 * the recorded endpoint has the same arguments, or was made later. Otherwise the endpoint replaces the recorded one.
 */
export function isSurplus(
  registration: InterruptedRegistration,
  endpoint: Endpoint,
  plain: Deployment,
): boolean {
  const own = resourceOf(registration.urn, plain);
  if (own === undefined) return false;
  return (
    hasArguments(own, registration) || Date.parse(own.created ?? "") > parseTimestamp(endpoint.createdAt)
  );
}

function resourceOf(wanted: string, { resources = [] }: Deployment): Resource | undefined {
  return resources.find(({ urn, delete: gone }) => urn === wanted && gone !== true);
}

function hasArguments({ inputs }: Resource, { url, type, ip }: InterruptedRegistration): boolean {
  return (
    plainText(inputs, "url") === url && plainText(inputs, "type") === type && plainText(inputs, "ip") === ip
  );
}
