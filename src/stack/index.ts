export type { ReceiverConfig, ReceiverConfigErrorCode, ReceiverEndpoint } from "./config";
export { ReceiverConfigError } from "./config";
export { parseReceiverConfig } from "./parse";
export {
  type ConfiguredQueueOptions,
  type ConfiguredReceiverOptions,
  type EnvSource,
  type FileSource,
  receiverFromEnv,
  receiverFromFile,
  receiverFromStack,
  type StackSource,
} from "./sources";
