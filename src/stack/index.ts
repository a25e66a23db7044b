export type { ReceiverConfig, ReceiverConfigErrorCode, ReceiverEndpoint } from "./receiverConfigFormat";
export { parseReceiverConfig, ReceiverConfigError } from "./receiverConfigFormat";
export {
  type ConfiguredQueueOptions,
  type ConfiguredReceiverOptions,
  type EnvSource,
  type FileSource,
  receiverFromEnv,
  receiverFromFile,
  receiverFromStack,
  type StackSource,
} from "./receiverFrom";
