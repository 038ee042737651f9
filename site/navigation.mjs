/** The sidebar and the top menu, made from the folders of `docs/`: a new page appears without being listed anywhere. */

/** @typedef {import("./pages.mjs").Page} Page */
/** @typedef {{ text: string, link?: string, items?: Item[], collapsed?: boolean }} Item */

/** The sections of the site in order, with the groups of pages in each. A group is a folder below `docs/`. */
const SECTIONS = [
  { text: "Tutorial", folder: "tutorial", groups: [] },
  {
    text: "How-to",
    folder: "how-to",
    groups: [
      { text: "Write skills", folder: "how-to/author" },
      { text: "Work in a team", folder: "how-to/team" },
      { text: "Operate a service", folder: "how-to/operator" },
      { text: "Build with the library", folder: "how-to/engineer" },
    ],
  },
  { text: "Reference", folder: "reference", groups: [] },
  {
    text: "Explanation",
    folder: "explanation",
    groups: [{ text: "Decisions", folder: "decisions" }],
  },
  { text: "Migrate", folder: "migrate", groups: [] },
  { text: "Guides", folder: "guide", groups: [] },
];

/** Sections shown in the sidebar only. */
const MORE = [
  { text: "Project", folder: "project", groups: [{ text: "Transcripts", folder: "transcripts" }] },
];

/** Pages at the top of `docs/` stand in the section that they belong to. @type {Readonly<Record<string, string>>} */
const LOOSE_PAGES = { "benchmarks.md": "reference" };

/** Everything is folded; VitePress unfolds the part that the reader is in. @param {readonly Page[]} pages @returns {Item[]} */
export function sidebar(pages) {
  return [...SECTIONS, ...MORE].flatMap(({ text, folder, groups }) => {
    const inner = groups.flatMap(({ folder: of, ...group }) => {
      const [items, link] = [itemsIn(pages, of), linkTo(pages, of)];
      if (items.length > 0) return [{ ...group, ...link, items, collapsed: true }];
      return link.link === undefined ? [] : [{ ...group, ...link }];
    });
    const items = [...itemsIn(pages, folder), ...inner];
    const link = linkTo(pages, folder);
    return items.length === 0 && !link.link ? [] : [{ text, ...link, items, collapsed: true }];
  });
}

/** @param {readonly Page[]} pages */
export function topMenu(pages) {
  return SECTIONS.filter(({ folder }) => folder !== "guide").flatMap(({ text, folder }) => {
    const { link } = linkTo(pages, folder);
    const first = link ?? itemsIn(pages, folder)[0]?.link;
    return first === undefined ? [] : [{ text, link: first, activeMatch: `/${folder}/` }];
  });
}

/** What a section's first page lists: its pages with their descriptions. @param {readonly Page[]} pages */
export function pageCards(pages) {
  return pages
    .filter(({ target }) => !isIndex(target))
    .map(({ target, title, description }) => ({
      folder: folderOf(target),
      title,
      description,
      link: link(target),
    }));
}

/** @param {readonly Page[]} pages @param {string} folder @returns {Item[]} */
function itemsIn(pages, folder) {
  return pages
    .filter(({ target }) => folderOf(target) === folder && !isIndex(target))
    .map(({ target, title }) => ({ text: title, link: link(target) }));
}

/** @param {readonly Page[]} pages @param {string} folder @returns {{ link?: string }} */
function linkTo(pages, folder) {
  return pages.some(({ target }) => target === `${folder}/index.md`) ? { link: `/${folder}/` } : {};
}

/** @param {string} target */
function folderOf(target) {
  return LOOSE_PAGES[target] ?? target.split("/").slice(0, -1).join("/");
}

/** @param {string} target */
function isIndex(target) {
  return /(?:^|\/)index\.md$/.test(target);
}

/** @param {string} target */
function link(target) {
  return `/${target.replace(/\.md$/, "")}`;
}
