const { ensureCli } = require("./ensure");
const { findCli } = require("./find");

module.exports = { ensureCli, findCli };
