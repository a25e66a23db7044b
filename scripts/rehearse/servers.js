const { once } = require("node:events");

/** Lets a server listen on a free port of this machine, and returns its address. It doesn't keep the process alive. */
async function listen(server) {
  server.listen(0, "127.0.0.1").unref();
  await once(server, "listening");
  return `http://127.0.0.1:${server.address().port}`;
}

/** Sends a whole body with its length: the CLI refuses a download without it. */
function respond(response, status, body) {
  response.writeHead(status, { "content-length": Buffer.byteLength(body) }).end(body);
}

module.exports = { listen, respond };
