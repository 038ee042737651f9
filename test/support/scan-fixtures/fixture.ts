/** How a rule's examples are written down: small trees of inert files, with and without what it looks for. */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export type FixtureContent = string | Uint8Array | { readonly link: string } | { readonly pipe: true };
export type FixtureFiles = Readonly<Record<string, FixtureContent>>;

export interface RuleFixture {
  readonly rule: string;
  /** What is special about it; the test's title. */
  readonly what: string;
  /** A skill file is added where there is none. */
  readonly files: FixtureFiles;
  /** Given as other skills' names. */
  readonly knownNames?: readonly string[];
}

export interface RuleFixtures {
  /** The rule applies. */
  readonly positive: readonly RuleFixture[];
  /** Near misses: the rule does not apply. */
  readonly negative: readonly RuleFixture[];
}

type Example = readonly [what: string, files: FixtureFiles | string, knownNames?: readonly string[]];

export function examplesOf(
  rule: string,
  positive: readonly Example[],
  negative: readonly Example[],
): RuleFixtures {
  const toFixture = ([what, files, knownNames]: Example): RuleFixture => ({
    rule,
    what,
    files: typeof files === "string" ? { "SKILL.md": document(files) } : files,
    ...(knownNames && { knownNames }),
  });
  return { positive: positive.map(toFixture), negative: negative.map(toFixture) };
}

/** The files below `folder`, with a plain skill file where there is none. */
export function writeFixture(folder: string, files: FixtureFiles): void {
  const all: FixtureFiles = { "SKILL.md": document("Format it."), ...files };
  for (const [path, content] of Object.entries(all)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    if (typeof content === "string" || content instanceof Uint8Array) writeFileSync(file, content);
    else if ("link" in content) symlinkSync(content.link, file);
    else execFileSync("mkfifo", [file]);
  }
}

/** A skill file with this body. */
export function document(body: string): string {
  return `---\nname: sample\ndescription: Formats reports.\n---\n\n# Sample\n\n${body}\n`;
}

export function block(language: string, code: string): string {
  return `Steps:\n\n\`\`\`${language}\n${code}\n\`\`\``;
}
