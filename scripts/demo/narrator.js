const wide = 78;

/** Tells the story: numbered steps, sentences, and facts that must hold. A fact that does not ends the demo. */
class Narrator {
  #steps = 0;
  #ended = false;

  /** Nothing is told any more. */
  end() {
    this.#ended = true;
  }

  step(title) {
    this.#steps++;
    this.say(`\n── ${this.#steps}. ${title} ${"─".repeat(Math.max(3, wide - title.length))}`);
  }

  say(text) {
    if (!this.#ended) console.log(text);
  }

  /** A line of another program. */
  quote(line) {
    this.say(`    │ ${line}`.trimEnd());
  }

  /** What the demo claims, checked. */
  fact(holds, claim) {
    if (!holds) throw new Error(`this should hold and does not: ${claim}`);
    this.say(`  ✓ ${claim}`);
  }
}

module.exports = { Narrator };
