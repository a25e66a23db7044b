/** The options of a client of ioredis, as the page of receivers gives them. A test compares the page and each recipe with these. */
export const ioredisOptions = {
  lazyConnect: true,
  maxRetriesPerRequest: 1,
  connectTimeout: 2_000,
  socketTimeout: 3_000,
  retryStrategy: (attempt: number) => Math.min(attempt * 100, 1_000),
  reconnectOnError: ({ message }: Error) => message.includes("READONLY"),
};

const { lazyConnect: _, ...connecting } = ioredisOptions;

/** The options of the connection of a BullMQ queue, which connects by itself. */
export const queueOptions = connecting;

/** The options of the connection of a BullMQ worker, which waits for jobs. */
export const workerOptions = { ...connecting, maxRetriesPerRequest: null, socketTimeout: 30_000 };

/** The options of a client of node-redis. */
export const nodeRedisOptions = {
  commandOptions: { timeout: 4_000 },
  commandsQueueMaxLength: 1_000,
};
export const nodeRedisSocket = {
  connectTimeout: 2_000,
  reconnectStrategy: (attempt: number) => Math.min(attempt * 100, 1_000),
};
