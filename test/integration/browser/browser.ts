import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import puppeteer, { type Page } from "puppeteer-core";

/** How long the browser, or a page, may take for a step, in milliseconds. */
export const TIMEOUT_MS = 60_000;

export interface HeadlessBrowser {
  /** Opens a tab. An error on a page that it shows is added to `problems`. */
  open(url: string, options?: { readonly script: boolean }): Promise<Page>;
  readonly problems: readonly string[];
  /** Stops the browser and removes its files. */
  dispose(): Promise<void>;
}

/** Starts a real headless browser, which comes from npm and runs without root, in a temporary folder. */
export async function startBrowser(): Promise<HeadlessBrowser> {
  const folder = await mkdtemp(join(tmpdir(), "browser-"));
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 30 });
  const env = { ...process.env, TMPDIR: folder, HOME: folder, FONTCONFIG_PATH: folder };
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [join(__dirname, "extract.mjs")], { env });
    await writeFile(join(folder, "fonts.conf"), fontsConf(folder));
    const executablePath = stdout.trim();
    const userDataDir = join(folder, "profile");
    // Containers seldom allow the browser's sandbox. These tests open pages of this machine only.
    const args = ["--no-sandbox"];
    const options = { executablePath, userDataDir, env, args, timeout: TIMEOUT_MS };
    const browser = await puppeteer.launch({ ...options, headless: "shell" });
    const problems: string[] = [];
    return {
      problems,
      async open(url, { script } = { script: true }) {
        const page = await browser.newPage();
        page.setDefaultTimeout(TIMEOUT_MS);
        page.on("pageerror", (error) => problems.push(String(error)));
        page.on("dialog", (dialog) => problems.push(`dialog: ${dialog.message()}`));
        page.on("console", (message) => {
          if (/Content.Security.Policy/i.test(message.text())) problems.push(message.text());
        });
        await page.setJavaScriptEnabled(script);
        await page.setViewport({ width: 1200, height: 800 });
        await page.goto(url);
        return page;
      },
      async dispose() {
        await browser.close();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** The browser's own fonts first: it crashes where there is none. */
function fontsConf(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
<dir>${folder}/fonts/fonts</dir>
<dir>/usr/share/fonts</dir>
<cachedir>${folder}/font-cache</cachedir>
<alias><family>system-ui</family><prefer><family>Open Sans</family></prefer></alias>
</fontconfig>
`;
}
