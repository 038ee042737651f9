/** Dotted key paths as people write them: `skills.trusted-paths`, `tools."bash(git:*)"`. */
const BARE = /^[A-Za-z0-9_-]+$/;
const MOST_CHARACTERS = 120;
const SEGMENT = /\s*(?:"((?:\\.|[^"\\])*)"|'([^']*)'|([^.\s"']+))\s*(\.|$)/y;

export function formatKeyPath(segments: readonly string[]): string {
  return segments.map((segment) => (BARE.test(segment) ? segment : JSON.stringify(segment))).join(".");
}

/** For messages: a key of an untrusted file may be of any length. */
export function showKeyPath(segments: readonly string[]): string {
  const text = formatKeyPath(segments);
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}

/** `undefined` when a quote is not closed or a part is empty. */
export function parseKeyPath(text: string): readonly string[] | undefined {
  const segments: string[] = [];
  SEGMENT.lastIndex = 0;
  for (let end = "."; end === "."; ) {
    const match = SEGMENT.exec(text);
    if (!match) return undefined;
    const [, double, single, bare] = match;
    segments.push(double?.replace(/\\(.)/g, "$1") ?? single ?? bare ?? "");
    end = match[4] ?? "";
  }
  return segments;
}
