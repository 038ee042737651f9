import type { OutgoingHttpHeaders } from "node:http";
import { describe, expect, test } from "vitest";
import { addressBook, PUBLIC, startSite } from "../../../../../test/support/loopback-site.ts";
import { toolContext } from "../../../../../test/support/tool-context.ts";
import type { ToolOutput } from "../../../src/tools/tool.ts";
import { webFetchTool } from "../../../src/tools/web/web-tools.ts";

interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly body: string | Buffer;
  readonly headers?: OutgoingHttpHeaders;
}

/** What the tool makes of an answer; `origin` replaced in it, since ports differ. */
async function fetchPage({ status = 200, type, body, headers }: Answer): Promise<ToolOutput> {
  const site = await startSite((_, response) => {
    response.writeHead(status, { ...headers, ...(type && { "content-type": type }) }).end(body);
  });
  const tool = webFetchTool({}, addressBook({ "site.test": [PUBLIC] }));
  const network = [`site.test:${site.port}`];
  const output = await tool.execute({ url: `http://site.test:${site.port}/page` }, toolContext({ network }));
  return { ...output, text: output.text.replaceAll(`:${site.port}`, "") };
}

describe("web_fetch", () => {
  test("gives status, URL, type and text", async () => {
    const output = await fetchPage({ type: "text/plain; charset=utf-8", body: "hello" });
    expect(output).toEqual({
      text: "Status: 200\nURL: http://site.test/page\nType: text/plain\n\nhello",
      isError: false,
    });
  });

  test("makes text of HTML", async () => {
    const { text } = await fetchPage({
      type: "text/html",
      body: "<h1>Hi</h1><script>no</script><a href=x>y</a>",
    });
    expect(text).toMatch(/\n\n# Hi\n\ny \(http:\/\/site\.test\/x\)$/);
  });

  test.each([
    "application/json",
    "application/ld+json",
    "application/atom+xml",
    "text/csv",
    "application/yaml",
  ])("gives %s as it is", async (type) => {
    expect((await fetchPage({ type, body: '{"a": 1}' })).text).toMatch(/\n\n\{"a": 1\}$/);
  });

  test.each(["image/png", "application/pdf", "application/octet-stream", "image/svg+xml", "video/mp4"])(
    "refuses %s, naming it",
    async (type) => {
      const { text, isError } = await fetchPage({ type, body: "x" });
      expect(isError).toBe(true);
      expect(text).toContain(`returned \`${type}\`, which is not text`);
    },
  );

  test.each([
    ["the charset of the header", "text/plain; charset=iso-8859-1", Buffer.from("caf\xe9", "latin1"), "café"],
    ["the charset of the page", "text/html", Buffer.from('<meta charset="latin1">caf\xe9', "latin1"), "café"],
    ["UTF-8 for a charset nobody knows", "text/plain; charset=klingon", Buffer.from("café"), "café"],
    ["UTF-8 without a type", undefined, Buffer.from("café"), "café"],
  ])("reads by %s", async (_, type, body, expected) => {
    expect((await fetchPage({ ...(type && { type }), body })).text).toMatch(new RegExp(`\\n\\n${expected}$`));
  });

  test("takes out invisible characters", async () => {
    const { text } = await fetchPage({ type: "text/plain", body: "a\u202eb\u200bc\u{e0041}d\u0000e" });
    expect(text).toMatch(/\n\nabcde$/);
  });

  test("says that an error page is one, and gives it", async () => {
    const output = await fetchPage({ status: 404, type: "text/plain", body: "not here" });
    expect(output).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^Status: 404\n.*\n\nnot here$/s),
    });
  });

  test("cuts a long page and says so", async () => {
    const { text } = await fetchPage({
      type: "text/plain",
      body: `${"x".repeat(99_999)}😀${"y".repeat(100)}`,
    });
    expect(text).toContain("\nCut: only the first 100000 of 100101 characters are shown.\n\n");
    expect(text).toMatch(/\n\nx{99999}$/);
  });

  test("says that a page was not fetched to its end", async () => {
    const { text } = await fetchPage({ type: "text/plain", body: "x".repeat(3_000_000) });
    expect(text).toContain(
      "Cut: only the first 2097152 bytes were fetched; only the first 100000 of 2097152 ",
    );
  });

  test("refuses everything where nothing is granted, naming the key that grants", async () => {
    const output = await webFetchTool().execute({ url: "https://example.com/" }, toolContext());
    expect(output.isError).toBe(true);
    expect(output.text).toContain('`[sandbox]` `network = ["example.com"]`');
  });

  test("refuses loopback by its real judgement of addresses", async () => {
    const site = await startSite((_, response) => response.end("inside"));
    const network = [`127.0.0.1:${site.port}`];
    const output = await webFetchTool().execute(
      { url: `http://127.0.0.1:${site.port}/` },
      toolContext({ network }),
    );
    expect(output.isError).toBe(true);
    expect(output.text).toContain("`127.0.0.1` is a loopback address");
    expect(site.requests).toEqual([]);
  });
});
