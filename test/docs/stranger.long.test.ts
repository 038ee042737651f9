/**
 * A stranger finds the answer from the front page: in at most three clicks, or with one search. The site is built and served
 * for real, and read in a real browser.
 */
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { findViolations } from "../support/axe.ts";
import { describeInBrowser, openPage } from "../support/chromium.ts";
import { startDocsSite } from "../support/docs-site.ts";

interface ClickTask {
  readonly task: string;
  /** The names of links, in the order a reader follows them. */
  readonly clicks: readonly RegExp[];
  /** What answers the question. */
  readonly answer: RegExp;
}

interface SearchTask {
  readonly task: string;
  readonly words: string;
  /** The page with the answer. */
  readonly page: string;
}

/** For a build that hangs, and not for a busy machine. */
const BUILD_PATIENCE_MS = 600_000;
const MOST_CLICKS = 3;
/** Nobody looks further down a list of results. */
const MOST_RESULTS = 5;

const CLICK_TASKS: readonly ClickTask[] = [
  { task: "write a first skill", clicks: [/Start the tutorial/], answer: /metier new release-notes/ },
  {
    task: "test a skill without a model",
    clicks: [/For authors/, /^Test a skill/],
    answer: /\.test\.yaml[\s\S]*metier test/,
  },
  { task: "install a skill from git", clicks: [/For teams/, /^Install skills/], answer: /metier install/ },
  { task: "use skills with OpenAI", clicks: [/For engineers/, /OpenAI/], answer: /metier\/openai/ },
  { task: "move from `npx skills`", clicks: [/From other tools/, /npx skills/], answer: /metier install/ },
  {
    task: "see every config key",
    clicks: [/Look something up/, /^configuration(?:\.md)?$/i],
    answer: /skills\.trusted-paths/,
  },
];

const SEARCH_TASKS: readonly SearchTask[] = [
  {
    task: "let a skill reach the network",
    words: "network access domain",
    page: "how-to/team/give-a-skill-access",
  },
  { task: "trust a skill", words: "trust a skill", page: "how-to/team/trust-skills" },
  { task: "continue a run", words: "continue a run after a crash", page: "how-to/engineer/durable-runs" },
  { task: "review an update", words: "review update", page: "how-to/team/review-updates" },
  { task: "use many machines", words: "postgres workers", page: "how-to/operator/run-on-many-machines" },
  { task: "make a backup", words: "backup restore", page: "how-to/operator/back-up-and-restore" },
];

/** Opens the front page, and lists requests that leave the site. */
async function openFrontPage(): Promise<{
  readonly page: Page;
  readonly complaints: string[];
  readonly leaving: string[];
}> {
  const { page, complaints } = await openPage();
  const leaving: string[] = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(front) && !request.url().startsWith("data:")) leaving.push(request.url());
  });
  await page.goto(front);
  return { page, complaints, leaving };
}

async function expectAnswer(page: Page, answer: RegExp): Promise<void> {
  await expect.poll(() => page.locator(".VPDoc main").innerText()).toMatch(answer);
}

let front = "";

describeInBrowser("from the front page", () => {
  beforeAll(async () => {
    front = await startDocsSite();
  }, BUILD_PATIENCE_MS);

  test.each(CLICK_TASKS)("a stranger finds by clicks how to $task", async ({ clicks, answer }) => {
    expect(clicks.length).toBeLessThanOrEqual(MOST_CLICKS);
    const { page, complaints, leaving } = await openFrontPage();
    for (const name of clicks) {
      const address = page.url();
      await page.locator("#VPContent a").filter({ hasText: name }).first().click();
      await page.waitForURL((url) => url.href !== address);
    }
    await expectAnswer(page, answer);
    expect({ complaints, leaving }).toEqual({ complaints: [], leaving: [] });
  });

  test.each(SEARCH_TASKS)("a stranger finds by search how to $task", async ({ words, page: wanted }) => {
    const { page, complaints, leaving } = await openFrontPage();
    const box = page.locator(".VPLocalSearchBox input");
    // The page listens to keys only once its program runs, which a busy machine puts off.
    await expect
      .poll(async () => {
        await page.keyboard.press("Control+k");
        return box.isVisible();
      })
      .toBe(true);
    await box.fill(words);
    const results = page.locator(".VPLocalSearchBox .result");
    const address = new RegExp(`/${wanted}\\.html`);
    const places = (): Promise<readonly number[]> =>
      results.evaluateAll(
        (links, pattern) =>
          links.flatMap((link, place) =>
            new RegExp(pattern).test(link.getAttribute("href") ?? "") ? [place] : [],
          ),
        address.source,
      );
    await expect.poll(async () => (await places())[0] ?? MOST_RESULTS).toBeLessThan(MOST_RESULTS);
    await results.nth((await places())[0] ?? 0).click();
    await page.waitForURL(address);
    expect({ complaints, leaving }).toEqual({ complaints: [], leaving: [] });
  });

  test.each(["light", "dark"] as const)("text has enough contrast in %s mode", async (colorScheme) => {
    const { page } = await openPage({ colorScheme });
    for (const path of ["", "tutorial/", "reference/configuration.html"]) {
      await page.goto(`${front}${path}`);
      const found = await findViolations(page);
      expect(found.filter((violation) => violation.startsWith("color-contrast"))).toEqual([]);
    }
  });

  test("an address that doesn't exist leads to a page that says so", async () => {
    const { page } = await openPage();
    const answer = await page.goto(`${front}no-such-page.html`);
    expect(answer?.status()).toBe(404);
    await expect.poll(() => page.locator("#VPContent").innerText()).toMatch(/not found/i);
  });
});
