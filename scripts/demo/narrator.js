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

module.exports = { Narrator };
