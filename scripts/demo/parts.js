const http = require("node:http");
const { nodeHandler } = require("../../dist/receiver/adapters/node");
const { receiverFromStack } = require("../../dist/stack");

/** The width of a step's title line, in characters. */
const WIDTH = 78;

/** Prints the story: numbered steps, sentences, and facts. A fact that turns out false ends the demo. */
class Narrator {
  #steps = 0;
  #ended = false;

  /** Prints nothing from now on. */
  end() {
    this.#ended = true;
  }

  step(title) {
    this.#steps++;
    this.say(`\n── ${this.#steps}. ${title} ${"─".repeat(Math.max(3, WIDTH - title.length))}`);
  }

  say(text) {
    if (!this.#ended) console.log(text);
  }

  /** Prints a line of another program's output. */
  quote(line) {
    this.say(`    │ ${line}`.trimEnd());
  }

  /** Prints a claim that holds. Throws if it doesn't. */
  fact(holds, claim) {
    if (!holds) throw new Error(`this should be true, but is not: ${claim}`);
    this.say(`  ✓ ${claim}`);
  }
}

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

module.exports = { DemoReceiver, Narrator };
