/** Skills as URIs: `skill://<name>/<path>`. What was asked for is only ever compared with these, never taken apart into a path. */

const SKILL_SCHEME = "skill://";

/** What the skill's own file is called, whatever its name on disk. */
export const SKILL_FILE = "SKILL.md";

/**
 * The folder of a skill, as a list of segments. The last one must be the name that its file states, which differs from
 * the one it goes by here when it was installed under an alias.
 */
export function skillFolder(name: string, stated: string): readonly string[] {
  return name === stated ? [name] : [name, stated];
}

export function skillUri(segments: readonly string[]): string {
  return `${SKILL_SCHEME}${segments.map(encodeURIComponent).join("/")}`;
}

/** The one spelling of a URI; `undefined` for what is none. */
export function canonicalUri(uri: string): string | undefined {
  return URL.canParse(uri) ? new URL(uri).href : undefined;
}

/** The name of the skill that a URI lies in, whether there is such a skill or not. */
export function skillNameIn(uri: string): string | undefined {
  const canonical = canonicalUri(uri);
  return canonical?.startsWith(SKILL_SCHEME) ? canonical.slice(SKILL_SCHEME.length).split("/")[0] : undefined;
}
