// Time in beats. In a test's own process fastClock.ts counts them. In a plugin's process, which is started with this file
// loaded, they come as messages, and each is answered when the process has got to it.

/** Milliseconds since the first beat. */
let passed = 0;
const timers = new Map();

exports.passed = () => passed;

/** Lets so much time have passed, and calls what was to be called until then. */
exports.beat = (until) => {
  passed = until;
  const due = [...timers].filter(([, { at }]) => at <= until).sort(([, a], [, b]) => a.at - b.at);
  for (const [timer, { callback }] of due) if (timers.delete(timer)) callback();
};

/** What a provider takes as its `clock`. Its time runs `speed` times as fast as the beats, and began after `since` of them. */
exports.clock = (speed, since, epoch) => ({
  now: () => passed * speed,
  date: () => epoch + (passed - since) * speed,
  after: (milliseconds, callback) => {
    const timer = Symbol("timer");
    timers.set(timer, { at: passed + milliseconds / speed, callback });
    return () => timers.delete(timer);
  },
});

if (process.env.FOLLOWS_BEATS !== undefined) {
  process.on("message", (until) => {
    exports.beat(until);
    // Not before what else has arrived was dealt with.
    setImmediate(() => process.connected && process.send(until));
  });
  process.channel.unref();
}
