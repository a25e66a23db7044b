import type { Listed } from "./run";

/** The subcommands, in the order of the help. Only the one that is needed is loaded. */
export const COMMANDS: Readonly<Record<string, Listed>> = {
  list: {
    summary: "show every endpoint, and who has it",
    load: () => (require("./list") as typeof import("./list")).list,
  },
  get: {
    summary: "show one endpoint, and who has it",
    load: () => (require("./list") as typeof import("./list")).get,
  },
  delete: {
    summary: "delete endpoints that no stack has",
    load: () => (require("./delete") as typeof import("./delete")).deletion,
  },
  adopt: {
    summary: "write the code that takes over endpoints that no stack has",
    load: () => (require("./adopt") as typeof import("./adopt")).adopt,
  },
  doctor: {
    summary: "check the settings, the service and the stacks, and say what to do",
    load: () => (require("./doctor/doctor") as typeof import("./doctor/doctor")).doctor,
  },
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
  "check-service": {
    summary: "check whether a service keeps the contract",
    load: () =>
      (require("./checkService/checkService") as typeof import("./checkService/checkService")).checkService,
  },
  emulator: {
    summary: "run the webhook service on this machine",
    load: () => (require("./emulator") as typeof import("./emulator")).emulator,
  },
};
