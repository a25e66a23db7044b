import type { Commands } from "./run";

/** The subcommands, in the order of the help. Only the one that is needed is loaded. */
export const COMMANDS: Commands = {
  list: () => (require("./list") as typeof import("./list")).list,
  get: () => (require("./list") as typeof import("./list")).get,
  delete: () => (require("./delete") as typeof import("./delete")).deletion,
  adopt: () => (require("./adopt") as typeof import("./adopt")).adopt,
  doctor: () => (require("./doctor/doctor") as typeof import("./doctor/doctor")).doctor,
  listen: () => (require("./listen/listen") as typeof import("./listen/listen")).listen,
  send: () => (require("./send") as typeof import("./send")).send,
  probe: () => (require("./probe") as typeof import("./probe")).probe,
  verify: () => (require("./verify/verify") as typeof import("./verify/verify")).verify,
  "check-service": () =>
    (require("./checkService/checkService") as typeof import("./checkService/checkService")).checkService,
  emulator: () => (require("./emulator") as typeof import("./emulator")).emulator,
};
