const path = require("node:path");

/** The checkout's root. */
const root = path.resolve(__dirname, "../..");

/** What set-up remembers between runs; ignored by git, and free to delete. */
const cache = path.join(root, ".cache");

module.exports = { root, cache };
