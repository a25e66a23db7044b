const { ensureRedis, HOW_TO_GET_REDIS } = require("./ensure");
const { findRedis } = require("./find");

module.exports = { ensureRedis, findRedis, HOW_TO_GET_REDIS };
