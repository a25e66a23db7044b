import type { Commands } from "./run";

/** The subcommands, in the order of the help. Only the one that is needed is loaded. */
export const COMMANDS: Commands = {
  list: async () => (await import("./list")).list,
  get: async () => (await import("./list")).get,
  delete: async () => (await import("./delete")).deletion,
  adopt: async () => (await import("./adopt")).adopt,
  doctor: async () => (await import("./doctor/doctor")).doctor,
  listen: async () => (await import("./listen/listen")).listen,
  send: async () => (await import("./send")).send,
  probe: async () => (await import("./probe")).probe,
  verify: async () => (await import("./verify/verify")).verify,
  "check-service": async () => (await import("./checkService/checkService")).checkService,
  emulator: async () => (await import("./emulator")).emulator,
};
