/**
 * Which Markdown files become pages of the documentation site, and where. Pages live in `docs/`; a few documents at the
 * root of the repository are shown under `project/`. Everything else is reached in the repository.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = resolve(fileURLToPath(import.meta.url), "../..");

/** Root documents that the site shows. The README isn't one of them: the front page takes its place. */
export const PROJECT_DOCUMENTS = [
  "GLOSSARY.md",
  "ARCHITECTURE.md",
  "SECURITY.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "DEPENDENCIES.md",
];

/**
 * @typedef {object} Page
 * @property {string} source path of the Markdown file in the repository
 * @property {string} target path of the page on the site, such as `how-to/author/index.md`
 * @property {string} title
 * @property {string} description empty if the page has none
 * @property {number} order pages without one come last, by title
 */

/**
 * The page that a repository file becomes, or `undefined` if the site doesn't show it.
 *
 * @param {string} source such as `docs/reference/README.md`
 * @returns {string | undefined} such as `reference/index.md`
 */
export function pageFor(source) {
  if (PROJECT_DOCUMENTS.includes(source)) return `project/${source.toLowerCase()}`;
  if (!source.startsWith("docs/") || !source.endsWith(".md")) return undefined;
  return source.slice("docs/".length).replace(/(^|\/)README\.md$/, "$1index.md");
}

/** What the site leaves out of the repository, as globs. @returns {string[]} */
export function notPages() {
  return readdirSync(ROOT, { withFileTypes: true })
    .filter(({ name }) => name !== "docs" && !PROJECT_DOCUMENTS.includes(name))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/**` : entry.name));
}

/** @returns {readonly Page[]} every page of the site, in the order of the sidebar */
export function readPages() {
  const docs = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" });
  const sources = [
    ...docs.map((name) => `docs/${name.replaceAll("\\", "/")}`),
    ...PROJECT_DOCUMENTS.filter((name) => existsSync(join(ROOT, name))),
  ];
  return sources
    .flatMap((source) => {
      const target = pageFor(source);
      return target === undefined ? [] : [{ source, target, ...readHead(source) }];
    })
    .sort((a, b) => a.order - b.order || a.title.localeCompare(b.title, "en"));
}

/** @param {string} source */
function readHead(source) {
  const text = readFileSync(join(ROOT, source), "utf8");
  const frontmatter = /^---\n(.*?)\n---\n/s.exec(text)?.[1] ?? "";
  const heading = /^# (.+)$/m.exec(text)?.[1];
  return {
    title: field(frontmatter, "title") ?? heading?.replaceAll("`", "") ?? source,
    description: field(frontmatter, "description") ?? "",
    order: Number(field(frontmatter, "order") ?? Number.MAX_SAFE_INTEGER),
  };
}

/** One line of a page's frontmatter. @param {string} frontmatter @param {string} name */
function field(frontmatter, name) {
  const value = new RegExp(`^${name}:\\s*(.+)$`, "m").exec(frontmatter)?.[1];
  return value?.trim().replace(/^(["'])(.*)\1$/, "$2");
}
