/**
 * Links and pictures work in the repository and on the site: every file is there, and every anchor is a heading of it.
 * VitePress checks links between pages as well, but no anchors, no pictures in HTML and no document outside the site.
 */
import { existsSync, globSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { githubSlug } from "../../site/github-slug.mjs";
import { siteLink } from "../../site/repository-links.mjs";
import { type Document, prose, readDocuments } from "../support/documents.ts";
import { ROOT, readRepositoryFile } from "../support/repository.ts";

const OTHERS = ["SECURITY.md", "AGENTS.md", ...globSync("{packages,examples}/*/README.md", { cwd: ROOT })];

function allDocuments(): readonly Document[] {
  const read = readDocuments();
  const more = OTHERS.filter(
    (path) => existsSync(join(ROOT, path)) && !read.some((one) => one.path === path),
  );
  return [...read, ...more.map((path) => ({ path, text: readRepositoryFile(path) }))];
}

/** Targets of links, pictures and HTML, as written. Those with a scheme, or a page's address on the site, lead elsewhere. */
function targets(document: Document): readonly string[] {
  const text = prose(document).replace(/`[^`\n]*`/g, "");
  return [...text.matchAll(/\]\(([^)\s]+)[^)]*\)|(?:src|href)="([^"]+)"/g)]
    .map(([, link, html]) => link ?? html ?? "")
    .filter((target) => !/^(?:[a-z]+:|\/)/.test(target));
}

function anchorsOf(path: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const headings = [...prose({ path, text: readRepositoryFile(path) }).matchAll(/^#{1,6} (.+)$/gm)];
  return new Set(
    headings.map(([, heading = ""]) => {
      const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]/g, "");
      const slug = githubSlug(plain);
      const times = seen.get(slug) ?? 0;
      seen.set(slug, times + 1);
      return times === 0 ? slug : `${slug}-${times}`;
    }),
  );
}

function fault(from: string, target: string): string | undefined {
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? from : join(dirname(from), path);
  if (!existsSync(join(ROOT, file))) return "there is no such file";
  const isPage = statSync(join(ROOT, file)).isFile() && file.endsWith(".md");
  if (anchor !== undefined && isPage && !anchorsOf(file).has(anchor)) return `${file} has no such heading`;
  return undefined;
}

test("every link, anchor and picture of the documents leads somewhere", () => {
  const broken = allDocuments().flatMap((document) =>
    targets(document).flatMap((target) => {
      const found = fault(document.path, target);
      return found === undefined ? [] : [`${document.path}: ${target}: ${found}`];
    }),
  );
  expect(broken).toEqual([]);
});

test("on the site, a link to a page stays on the site, and any other leads to the repository", () => {
  expect(siteLink("docs/tutorial/index.md", "../reference/README.md#a")).toBe("/reference/index.md#a");
  expect(siteLink("docs/tutorial/index.md", "../../GLOSSARY.md")).toBe("/project/glossary.md");
  expect(siteLink("ARCHITECTURE.md", "docs/decisions/README.md")).toBe("/decisions/index.md");
  expect(siteLink("docs/tutorial/index.md", "../../examples/desk/README.md")).toMatch(
    /^https:.*\/examples\/desk\/README\.md$/,
  );
  expect(siteLink("docs/tutorial/index.md", "#here")).toBe("#here");
  expect(siteLink("docs/tutorial/index.md", "https://example.org/a")).toBe("https://example.org/a");
});
