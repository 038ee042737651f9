/**
 * The system's own Chromium, driven by playwright-core. Nothing is downloaded: where there is none, tests in a browser are
 * skipped and say what to do; `METIER_REQUIRE_BROWSER` makes that a failure.
 */
import { existsSync } from "node:fs";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";
import { afterAll, describe } from "vitest";

const { METIER_CHROMIUM, METIER_REQUIRE_BROWSER } = process.env;
const PLACES = [METIER_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const program = PLACES.find((path) => path !== undefined && path !== "" && existsSync(path));
const HOW = "apt-get install --no-install-recommends chromium; then npm run test:only -- test/inspector";

/** No sandbox: root has none in Chromium. The others keep it from looking for its maker's servers. */
const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** `describe`, for tests that need a browser. */
export const describeInBrowser: (name: string, tests: () => void) => unknown =
  program === undefined && !METIER_REQUIRE_BROWSER ? describe.skip : describe;

if (program === undefined && !METIER_REQUIRE_BROWSER) {
  process.stderr.write(
    `Tests in a browser are skipped, since there is no Chromium here. To run them: ${HOW}\n`,
  );
}

let browser: Promise<Browser> | undefined;

async function open(): Promise<Browser> {
  if (program === undefined) throw new Error(`There is no Chromium here. ${HOW}`);
  browser ??= chromium.launch({ executablePath: program, args: ARGS });
  return browser;
}

afterAll(async () => {
  await (await browser)?.close();
  browser = undefined;
});

export interface OpenedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the page's scripts complained about, and what its policy kept from happening. */
  readonly complaints: string[];
}

/** A page of a browser that nobody used before. */
export async function openPage(options: BrowserContextOptions = {}): Promise<OpenedPage> {
  const context = await (await open()).newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (fault) => complaints.push(fault.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !/Failed to load resource/.test(message.text()))
      complaints.push(message.text());
  });
  return { page, context, complaints };
}
