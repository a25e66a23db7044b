import type { Page } from "puppeteer-core";
import { TIMEOUT_MS } from "./browser";

/** Waits until an element shows text that matches, and returns all of its text. */
export async function shows(page: Page, selector: string, pattern: RegExp): Promise<string> {
  // A string, because these sources are compiled without the types of a browser.
  const texts = `[...document.querySelectorAll(${JSON.stringify(selector)})].map((element) => element.innerText)`;
  const until = performance.now() + TIMEOUT_MS;
  for (;;) {
    // A page that is being left has no content.
    const inner = (await page.evaluate(texts).catch(() => [])) as string[];
    const shown = inner.map((text) => text.replace(/\s+/g, " "));
    const found = shown.find((text) => pattern.test(text));
    if (found !== undefined) return found;
    if (performance.now() > until) throw new Error(`${pattern} is not in: ${shown.join("\n")}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Clicks the button with this text, once it stands still: the page may be showing something new above it. */
export async function press(page: Page, selector: string, name: string): Promise<void> {
  await page.locator(`${selector} ::-p-text(${name})`).click();
}

/** Unfolds everything below a selector, as a click on each line would. */
export async function unfold(page: Page, selector: string): Promise<void> {
  await page.evaluate(
    `document.querySelectorAll(${JSON.stringify(`${selector} details`)}).forEach((fold) => { fold.open = true; })`,
  );
}
