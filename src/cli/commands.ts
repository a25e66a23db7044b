import type { Listed } from "./run";

/** The subcommands, in the order of the help. Only the one that is needed is loaded. */
export const COMMANDS: Readonly<Record<string, Listed>> = {
  listen: {
    summary: "show the deliveries that arrive on this machine, and forward them",
    load: () => (require("./listen/listen") as typeof import("./listen/listen")).listen,
  },
  send: {
    summary: "send a signed delivery to a receiver",
    load: () => (require("./send") as typeof import("./send")).send,
  },
  probe: {
    summary: "prove that a receiver accepts genuine deliveries and refuses others",
    load: () => (require("./probe") as typeof import("./probe")).probe,
  },
  verify: {
    summary: "find out why a captured delivery does not verify",
    load: () => (require("./verify/verify") as typeof import("./verify/verify")).verify,
  },
  emulator: {
    summary: "run the webhook service on this machine",
    load: () => (require("./emulator") as typeof import("./emulator")).emulator,
  },
};
