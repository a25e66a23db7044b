// Runs a snippet as its platform would: on any free port where it listens itself; behind a server, as a platform has one,
// where it exports a handler. Tells the parent process the port.

import http from "node:http";
import net from "node:net";
import { buffer } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const { listen } = net.Server.prototype;
net.Server.prototype.listen = function (...args) {
  const settings = typeof args[0] === "object" ? args[0] : {};
  const onListening = args.find((argument) => typeof argument === "function");
  this.once("listening", () => process.send({ port: this.address().port }));
  return listen.call(this, { ...settings, port: 0, host: "127.0.0.1" }, onListening);
};
process.once("disconnect", () => process.exit());
// A program that has closed its servers ends.
process.channel.unref();

const { POST, handler } = await import(pathToFileURL(process.argv[2]));
if (POST) serve(asFetch);
if (handler) serve(asLambda);

function serve(answer) {
  const onRequest = async (request, response) => {
    const { status, headers, body } = await answer(request, await buffer(request));
    response.writeHead(status, headers).end(body);
  };
  http.createServer(onRequest).listen();
}

async function asFetch({ method, headers }, body) {
  const response = await POST(new Request("https://hooks.example.com/jobs", { method, headers, body }));
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  };
}

/** As a function URL has it. */
async function asLambda({ method, headers }, bytes) {
  const requestContext = { http: { method, path: "/jobs" } };
  const event = { version: "2.0", requestContext, headers, body: bytes.toString(), isBase64Encoded: false };
  const { statusCode: status, ...rest } = await handler(event, {});
  return { status, headers: rest.headers, body: rest.body };
}
