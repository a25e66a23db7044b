export type { ReceiverConfig, ReceiverConfigErrorCode, ReceiverEndpoint } from "./config";
export { parseReceiverConfig, ReceiverConfigError } from "./config";
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
