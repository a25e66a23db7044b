/**
 * The provider's code as each validation carries it in users' state. It is evaluated in the program's directory by every later
 * release, so it never changes, and neither do the subpath and the name in it.
 */
export const PROVIDER_CODE =
  'exports.handler = () => require("pulumi-webhook-endpoints/provider").receiverValidation;';

/** The type token, in users' state for ever. */
export const TYPE_TOKEN = "pulumi-nodejs:dynamic/webhooks:ReceiverValidation";
