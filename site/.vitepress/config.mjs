/**
 * The documentation site. `npm run docs:build` writes static files to `site/dist`; nothing in them is loaded from another
 * host. Set `METIER_DOCS_BASE` to serve the site below a path, such as `/metier/`.
 */
import { join } from "node:path";
import { defineConfig } from "vitepress";
import { githubSlug } from "../github-slug.mjs";
import { pageCards, sidebar, topMenu } from "../navigation.mjs";
import { notPages, pageFor, ROOT, readPages } from "../pages.mjs";
import { repositoryLinks } from "../repository-links.mjs";

const { METIER_DOCS_BASE = "/", METIER_DOCS_OUT = join(ROOT, "site/dist") } = process.env;
const pages = readPages();

export default defineConfig({
  title: "Metier",
  description: "The runtime for Agent Skills: find, check, install and run skills in isolation.",
  lang: "en-US",
  base: METIER_DOCS_BASE,
  // The root of the repository, because some documents there are pages, too.
  srcDir: "..",
  srcExclude: notPages(),
  rewrites: (source) => pageFor(source) ?? source,
  outDir: METIER_DOCS_OUT,
  head: [["link", { rel: "icon", type: "image/svg+xml", href: `${METIER_DOCS_BASE}favicon.svg` }]],
  markdown: {
    // On our gray, the colors of the usual light theme are too pale to read.
    theme: { light: "github-light-high-contrast", dark: "github-dark" },
    anchor: { slugify: githubSlug },
    toc: { slugify: githubSlug },
    headers: { slugify: githubSlug },
    config: repositoryLinks,
  },
  transformPageData({ headers, frontmatter }) {
    if (headers.length === 0) frontmatter.aside = false;
  },
  vite: { publicDir: join(ROOT, "site/public"), build: { chunkSizeWarningLimit: 4000 } },
  themeConfig: {
    logo: "/favicon.svg",
    nav: topMenu(pages),
    sidebar: sidebar(pages),
    pages: pageCards(pages),
    outline: { level: [2, 3] },
    search: { provider: "local", options: { miniSearch: { searchOptions: { boostDocument } } } },
    externalLinkIcon: true,
    notFound: {
      title: "Page not found",
      quote: "It may have moved. Search for it with Ctrl K, or start from the front page.",
      linkText: "Go to the front page",
    },
  },
});

/**
 * Tasks come before records in the results of a search. VitePress sends the text of this function to the browser, so it
 * uses nothing from outside.
 *
 * @param {string} id the address of a page or of a heading in it
 */
function boostDocument(id) {
  if (/#see-also$/.test(id)) return 0.1;
  if (/\/(?:tutorial|how-to)\//.test(id)) return 2;
  return /\/(?:decisions|transcripts|project|benchmarks)/.test(id) ? 0.3 : 1;
}
