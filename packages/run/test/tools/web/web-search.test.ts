import { describe, expect, test } from "vitest";
import { toolContext } from "../../../../../test/support/tool-context.ts";
import { type SearchHit, webSearchTool, webTools } from "../../../src/tools/web/web-tools.ts";

const HITS: readonly SearchHit[] = [
  { title: "One\n\u202ething", url: "https://one.example/", snippet: "About   one." },
  { title: "", url: "https://two.example/", snippet: "" },
  { title: "Three", url: "https://three.example/", snippet: "x".repeat(2000) },
];

describe("web_search", () => {
  test("is there only with a provider", () => {
    expect(webTools().map(({ name }) => name)).toEqual(["web_fetch"]);
    const search = { search: async () => HITS };
    expect(webTools({ search }).map(({ name }) => name)).toEqual(["web_fetch", "web_search"]);
  });

  test("gives titles, addresses and snippets, each on one line and visible", async () => {
    const tool = webSearchTool({ search: async () => HITS });
    const { text } = await tool.execute({ query: "numbers" }, toolContext());
    expect(text).toBe(
      "1. One thing\n   https://one.example/\n   About one.\n\n2. (no title)\n   https://two.example/\n\n" +
        `3. Three\n   https://three.example/\n   ${"x".repeat(1000)}…`,
    );
  });

  test("hands on query, count and signal, and shows no more than were wanted", async () => {
    const asked: unknown[] = [];
    const tool = webSearchTool({
      search: async (...request) => {
        asked.push(request);
        return HITS;
      },
    });
    const context = toolContext();
    const { text } = await tool.execute({ query: "numbers", count: 1 }, context);
    expect(asked).toEqual([["numbers", 1, context.signal]]);
    expect(text).not.toContain("2.");
  });

  test("says that nothing was found, or that the provider failed", async () => {
    const empty = webSearchTool({ search: async () => [] });
    expect(await empty.execute({ query: "x" }, toolContext())).toMatchObject({ isError: false });
    const broken = webSearchTool({ search: () => Promise.reject(new Error("quota")) });
    expect(await broken.execute({ query: "x" }, toolContext())).toEqual({
      text: "The search failed: quota",
      isError: true,
    });
  });
});
