/**
 * Turns a heading into its anchor the way GitHub does, so that one link works on the site and in the repository.
 *
 * @param {string} heading
 * @returns {string}
 */
export function githubSlug(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");
}
