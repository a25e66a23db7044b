const { ensureRedis, howToGetRedis } = require("./ensure");
const { findRedis } = require("./find");

module.exports = { ensureRedis, findRedis, howToGetRedis };
