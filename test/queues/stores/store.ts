/** The server behind a queue: a real one, in a folder of its own, so that tests can run in parallel. */
export interface Store {
  /** What a client connects to. */
  readonly url: string;
  /** Makes it unreachable at once, without a warning. What it has confirmed, it keeps. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops it and removes its files. */
  dispose(): Promise<void>;
}
