/**
 * The provider's code as each resource carries it in users' state. It is evaluated in the program's directory by every
 * later release, so it never changes, and neither do the subpath and the name it holds.
 */
export const providerCode = 'exports.handler = () => require("pulumi-webhook-endpoints/provider").provider;';

/** The type token, in users' state for ever. */
export const typeToken = "pulumi-nodejs:dynamic/webhooks:WebhookEndpoint";
