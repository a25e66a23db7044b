const path = require("node:path");

/** The checkout's root. */
const root = path.resolve(__dirname, "../..");

/** The folder for what set-up remembers between runs. git ignores it, and you can delete it. */
const cache = path.join(root, ".cache");

module.exports = { root, cache };
