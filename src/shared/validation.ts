// What proves a receiver at deploy time (`validateReceiver`). Receivers recognize both.

/** The type of the event. A receiver calls no handler for it. */
export const VALIDATION_EVENT = "webhook.validation";

/** How the ids of these deliveries begin, the broken one's, too. */
export const VALIDATION_ID = "msg_validation_";
