import type { Commands } from "./run";

/** The subcommands, in the order of the help. Only the one that is needed is loaded. */
export const COMMANDS: Commands = {
  list: async () => (await import("./commands/list")).list,
  get: async () => (await import("./commands/get")).get,
  delete: async () => (await import("./commands/delete")).deletion,
  adopt: async () => (await import("./commands/adopt")).adopt,
  doctor: async () => (await import("./commands/doctor/doctor")).doctor,
  listen: async () => (await import("./commands/listen/listen")).listen,
  send: async () => (await import("./commands/send")).send,
  probe: async () => (await import("./commands/probe")).probe,
  verify: async () => (await import("./commands/verify/verify")).verify,
  "check-service": async () => (await import("./commands/checkService/checkService")).checkService,
  emulator: async () => (await import("./commands/emulator")).emulator,
};
