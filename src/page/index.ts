// A page of deliveries, for browsers on this machine: what the emulator sends, or what `listen` receives.

export { actionButton, actionForm, addressOf, badge, list, options, pre, short, time } from "./components";
export type { Attempt, ShownAttempt } from "./deliveries";
export { type Html, html } from "./html";
export { deliveryPage, isForPage, PAGE_PATH } from "./server";
export type { Action } from "./source";
