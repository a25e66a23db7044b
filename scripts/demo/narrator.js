const wide = 78;

/** Tells the story: numbered steps, sentences, and facts that must hold. A fact that does not ends the demo. */
class Narrator {
  #steps = 0;

  step(title) {
    this.#steps++;
    console.log(`\n── ${this.#steps}. ${title} ${"─".repeat(Math.max(3, wide - title.length))}`);
  }

  say(text) {
    console.log(text);
  }

  /** A line of another program. */
  quote(line) {
    console.log(`    │ ${line}`.trimEnd());
  }

  /** What the demo claims, checked. */
  fact(holds, claim) {
    if (!holds) throw new Error(`this should hold and does not: ${claim}`);
    console.log(`  ✓ ${claim}`);
  }
}

module.exports = { Narrator };
