import { readFileSync } from "node:fs";
import type { Page } from "puppeteer-core";

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Shows a page in a color scheme and width, without motion, ready for `violations`. */
export async function look(page: Page, scheme: string, width: number): Promise<void> {
  // Not as a script tag, which the page's content security policy forbids.
  await page.evaluate(readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
  await page.emulateMediaFeatures([
    { name: "prefers-color-scheme", value: scheme },
    { name: "prefers-reduced-motion", value: "reduce" },
  ]);
  await page.setViewport({ width, height: 800 });
}

/** Returns what axe-core finds. */
export async function violations(page: Page): Promise<string[]> {
  const found = (await page.evaluate("axe.run().then(({ violations }) => violations)")) as Violation[];
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}

export async function scrollsSideways(page: Page): Promise<boolean> {
  const { scrollWidth, clientWidth } = (await page.evaluate(
    "({ scrollWidth: document.documentElement.scrollWidth, clientWidth: document.documentElement.clientWidth })",
  )) as { scrollWidth: number; clientWidth: number };
  return scrollWidth > clientWidth;
}

/** Returns the texts that a button covers, and the placeholders that are cut. */
export async function coveredTexts(page: Page): Promise<string[]> {
  const covered = `(() => {
    const buttons = [...document.querySelectorAll("button")].filter((button) => button.checkVisibility());
    const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    const found = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!node.parentElement.checkVisibility() || node.parentElement.closest("button, option")) continue;
      const range = document.createRange();
      range.selectNode(node);
      for (const text of range.getClientRects())
        for (const button of buttons) {
          const box = button.getBoundingClientRect();
          const [isBeside, isApart] = [text.right <= box.left + 1 || text.left >= box.right - 1, text.bottom <= box.top + 1 || text.top >= box.bottom - 1];
          if (!isBeside && !isApart) found.push(node.textContent);
        }
    }
    for (const input of document.querySelectorAll("input[placeholder]:placeholder-shown"))
      if (input.scrollWidth > input.clientWidth) found.push(input.placeholder);
    return found;
  })()`;
  return (await page.evaluate(covered)) as string[];
}

/** Presses Tab once for each control, and returns their number, and those that Tab did not reach in the order of the page. */
export async function tabThrough(page: Page): Promise<{ stops: number; missed: string[] }> {
  const controls = `[...document.querySelectorAll("a, button, input:not([type=hidden]), select, textarea, summary, pre")]
    .filter((element) => element.checkVisibility())`;
  const stops = (await page.evaluate(`${controls}.length`)) as number;
  await page.evaluate("document.activeElement.blur(); window.stops = []");
  for (let n = 0; n < stops; n += 1) {
    await page.keyboard.press("Tab");
    await page.evaluate("stops.push(document.activeElement)");
  }
  const missed = `${controls}.filter((element, index) => element !== stops[index]).map((element) => element.outerHTML)`;
  return { stops, missed: (await page.evaluate(missed)) as string[] };
}

/** Returns the names of controls that are empty, or that another control has too. */
export async function ambiguousNames(page: Page): Promise<string[]> {
  const names = `[...document.querySelectorAll("button, main a, nav a")].filter((element) => element.checkVisibility())
    .map((element) => (element.ariaLabel ?? element.textContent).replace(/\\s+/g, " ").trim())`;
  const all = (await page.evaluate(names)) as string[];
  return all.filter((name, index) => name === "" || all.indexOf(name) !== index);
}
