import { expect, test } from "vitest";
import { LIST_LIMITS, type ListLimits, listEntries } from "../../src/remote/open-server.ts";

function entry(name: string): object {
  const uri = `skill://${name}/SKILL.md`;
  const resources = [{ uri, digest: `sha256:${"0".repeat(64)}`, size: 1 }];
  return { uri, frontmatter: { name, description: "It is one." }, resources };
}

function list(pages: readonly object[], limits: Partial<ListLimits> = {}): ReturnType<typeof listEntries> {
  const listPage = async (cursor = "0") => ({ ok: true, value: pages[Number(cursor)] }) as const;
  return listEntries("docs", { listPage }, { ...LIST_LIMITS, ...limits });
}

test("all pages make one list, which holds as long as its first page says, but never longer than a day", async () => {
  const pages = [
    { skills: [entry("a")], nextCursor: "1", ttlMs: 10 ** 12, cacheScope: "public" },
    { skills: [entry("b")], ttlMs: 1, cacheScope: "private" },
  ];
  expect(await list(pages)).toMatchObject({
    ok: true,
    value: { entries: [{ uri: "skill://a/SKILL.md" }, {}], ttlMs: 86_400_000, cacheScope: "public" },
  });
});

test("a list that does not say how long it holds does so for five minutes, for this user alone", async () => {
  expect(await list([{ skills: [] }])).toMatchObject({ value: { ttlMs: 300_000, cacheScope: "private" } });
});

test("a list is bounded in entries, bytes and pages, and must be one", async () => {
  const two = [{ skills: [entry("a")], nextCursor: "1" }, { skills: [entry("b")] }];
  const refused = async (limits: Partial<ListLimits>, pages: readonly object[] = two): Promise<unknown> => {
    const said = await list(pages, limits);
    return said.ok ? undefined : said.refusal.message;
  };
  expect(await refused({ entries: 1 })).toContain("more than 1 entries");
  expect(await refused({ bytes: 100 })).toContain("more than 100 bytes");
  expect(await refused({ pages: 1 })).toContain("more than 1 pages");
  expect(await refused({}, [{ skills: "none" }])).toContain("no `skills` list");
  expect(await refused({}, [{ skills: new Array(200_000).fill(0) }])).toContain("more than 5000 entries");
  expect(await refused({})).toBeUndefined();
});

test("what is said of a refused entry stays short and visible, however long its URI is", async () => {
  const [long, hidden] = [`skill://${"a".repeat(10_000)}/SKILL.md`, "skill://a\u001b[31m/SKILL.md"];
  const said = await list([{ skills: [long, hidden].map((uri) => ({ ...entry("a"), uri })) }]);
  const refused = said.ok ? said.value.refused : [];
  expect(refused).toMatchObject([
    { code: "remote.limit", message: expect.stringContaining("10017 characters; the limit is 4096") },
    { code: "remote.entry", message: expect.stringContaining("skill://a\\u{1b}[31m/SKILL.md") },
  ]);
  expect(refused[0]).not.toHaveProperty("uri");
});
