/**
 * Makes links work in both places where a document is read. In the repository a link is a relative path to a file. On the
 * site, a link to a file that is a page leads to that page; a link to any other file leads to the file in the repository.
 */
import { dirname, relative, resolve } from "node:path";
import { pageFor, ROOT } from "./pages.mjs";

const REPOSITORY = "https://github.com/metier-skills/metier/blob/main";

/**
 * Where a link leads on the site.
 *
 * @param {string} source the document it stands in, such as `docs/how-to/author/test.md`
 * @param {string} href as written
 * @returns {string}
 */
export function siteLink(source, href) {
  if (href === "" || href.startsWith("#") || href.startsWith("/") || /^[a-z][a-z\d+.-]*:/i.test(href))
    return href;
  const [, path = "", anchor = ""] = /^([^#]*)(#.*)?$/.exec(href) ?? [];
  const file = relative(ROOT, resolve(ROOT, dirname(source), path)).replaceAll("\\", "/");
  const page = pageFor(file);
  return page === undefined ? `${REPOSITORY}/${file}${anchor}` : `/${page}${anchor}`;
}

/**
 * A plugin of markdown-it. It changes links before VitePress checks them, so VitePress still finds those that lead nowhere.
 *
 * @param {import("vitepress").MarkdownRenderer} markdown
 */
export function repositoryLinks(markdown) {
  markdown.core.ruler.push("repository-links", ({ tokens, env }) => {
    const file = env?.realPath ?? env?.path;
    if (file === undefined) return; // a title alone, which VitePress also renders
    const source = relative(ROOT, file).replaceAll("\\", "/");
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === "link_open" ? token.attrGet("href") : null;
      if (href !== null) token.attrSet("href", siteLink(source, href));
    }
  });
}
