const http = require("node:http");
const { nodeHandler } = require("../../dist/receiver/adapters/node");
const { receiverFromStack } = require("../../dist/stack");

/** A receiver on a free port, built from the stack's secret output. `build` builds it again. */
class DemoReceiver {
  /** The events and jobs that reached a handler. */
  handled = [];
  /** The result of each request, oldest first: what happened, and the status of the response. */
  reports = [];
  #handler = (_, response) => response.writeHead(503).end();
  #server = http.createServer((request, response) => this.#handler(request, response));

  async listen() {
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${this.#server.address().port}/jobs`;
  }

  async build(source) {
    const note = (delivery) => this.handled.push(`${delivery.event} of ${delivery.jobId}`);
    const receiver = await receiverFromStack(source, {
      handlers: { "job.running": note, "job.succeeded": note, "job.failed": note },
      onRejected: ({ reason, status }) => this.reports.push({ what: reason, status }),
      onOutcome: ({ outcome, status }) => this.reports.push({ what: outcome, status }),
    });
    this.#handler = nodeHandler(receiver);
  }

  close() {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }
}

module.exports = { DemoReceiver };
