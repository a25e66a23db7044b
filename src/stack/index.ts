export type { ReceiverConfig, ReceiverConfigErrorCode, ReceiverEndpoint } from "./config";
export { ReceiverConfigError } from "./config";
export { type EnvSource, receiverFromEnv } from "./fromEnv";
export { type FileSource, receiverFromFile } from "./fromFile";
export { receiverFromStack, type StackSource } from "./fromStack";
export { parseReceiverConfig } from "./parse";
export type { ConfiguredQueueOptions, ConfiguredReceiverOptions } from "./receiver";
