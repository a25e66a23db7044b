const pending = new Set();
let watching = false;

/**
 * Runs `undo`, which must be synchronous, when this process ends, whether by itself or by Ctrl-C, SIGTERM or SIGHUP.
 * Returns a function that cancels this.
 */
function onEnd(undo) {
  watch();
  pending.add(undo);
  return () => pending.delete(undo);
}

function watch() {
  if (watching) return;
  watching = true;
  process.on("exit", () => {
    for (const undo of pending) undo();
  });
  for (const [signal, number] of Object.entries({ SIGHUP: 1, SIGINT: 2, SIGTERM: 15 })) {
    process.on(signal, () => process.exit(128 + number));
  }
}

module.exports = { onEnd };
