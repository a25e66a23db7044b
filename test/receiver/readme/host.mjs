// Runs a snippet as its platform would: on any free port where it listens itself; behind a server, as a platform has one,
// where it exports a handler. Tells the parent process the port.

import http from "node:http";
import net from "node:net";
import { Readable } from "node:stream";
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
if (POST) http.createServer(asFetch).listen();
if (handler) http.createServer(asLambda).listen();

async function asFetch(request, response) {
  const { method, headers } = request;
  const init = { method, headers, body: Readable.toWeb(request), duplex: "half" };
  const result = await POST(new Request("https://hooks.example.com/jobs", init));
  response.writeHead(result.status, Object.fromEntries(result.headers)).end(await result.text());
}

/** As a function URL has it. */
async function asLambda(request, response) {
  const { method, headers } = request;
  const requestContext = { http: { method, path: "/jobs" } };
  const event = { version: "2.0", requestContext, headers, isBase64Encoded: true };
  const { statusCode, ...rest } = await handler(
    { ...event, body: (await buffer(request)).toString("base64") },
    {},
  );
  response.writeHead(statusCode, rest.headers).end(rest.body);
}
