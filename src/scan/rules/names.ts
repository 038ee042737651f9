/** Names that are made to be mistaken for others. */
import type { Hit, ScanRule } from "../rule.ts";
import type { ScannedSkill } from "../scanned-skill.ts";
import { isMixed } from "./text.ts";

/** Skills that many people have: of the public example collections, and bundled here. */
export const WELL_KNOWN_NAMES: readonly string[] = [
  "algorithmic-art",
  "brand-guidelines",
  "canvas-design",
  "code-review",
  "doc-coauthoring",
  "docx",
  "frontend-design",
  "internal-comms",
  "mcp-builder",
  "pdf",
  "pptx",
  "review-a-skill",
  "skill-creator",
  "slack-gif-creator",
  "summarize-text",
  "systematic-debugging",
  "test-driven-development",
  "theme-factory",
  "triage-issue",
  "web-artifacts-builder",
  "webapp-testing",
  "write-a-skill",
  "xlsx",
];

/** Shorter names are near to each other by chance. */
const LEAST_LENGTH = 6;

export const NAME_RULES: readonly ScanRule[] = [
  {
    id: "names.lookalike-letters",
    family: "names",
    severity: "high",
    title: "The name has letters that look like others",
    explanation:
      "A name of mixed scripts, or with digits for letters (`c0de-review`), is read as the name it imitates.",
    help: "Check where the skill comes from. If it is yours, write the name in plain letters.",
    find: findLookalikes,
  },
  {
    id: "names.near",
    family: "names",
    severity: "medium",
    title: "The name is one letter away from another skill's",
    explanation:
      "People and models pick skills by name; a slip of the finger must not lead to someone else's. Plurals and numbers at the end do not count.",
    help: "Check that it is the skill you meant.",
    find: findNear,
  },
];

function knownNames({ name, knownNames }: ScannedSkill): readonly string[] {
  return [...new Set([...WELL_KNOWN_NAMES, ...knownNames])].filter((known) => known !== name);
}

const LOOKALIKE_DIGITS: Readonly<Record<string, string>> = { "0": "o", "1": "l", "3": "e", "5": "s" };

function* findLookalikes(skill: ScannedSkill): Iterable<Hit> {
  const plain = skill.name.normalize("NFKC");
  const isForeign = /[a-z]/.test(plain) && isMixed(plain);
  const spelled = plain
    .replace(/[0135]/g, (digit) => LOOKALIKE_DIGITS[digit] ?? digit)
    .replace(/rn/g, "m")
    .replace(/vv/g, "w");
  const imitated = knownNames(skill).find(
    (known) => known.length >= 4 && spelled === known && plain !== known,
  );
  if (isForeign || imitated !== undefined)
    yield at(skill, imitated === undefined ? undefined : `it looks like \`${imitated}\``);
}

function* findNear(skill: ScannedSkill): Iterable<Hit> {
  const { name } = skill;
  if (name.length < LEAST_LENGTH) return;
  const near = knownNames(skill).find(
    (known) => known.length >= LEAST_LENGTH && isOneEditAway(name, known) && !differsHonestly(name, known),
  );
  if (near !== undefined) yield at(skill, `it is near to \`${near}\``);
}

function at(skill: ScannedSkill, detail: string | undefined): Hit {
  const position = skill.parsed?.position("name") ?? { line: 1 };
  return { path: skill.skillFile, ...position, seen: skill.name, ...(detail !== undefined && { detail }) };
}

/** One letter more, less or other, two neighbours swapped, or a hyphen more or less. */
export function isOneEditAway(a: string, b: string): boolean {
  if (a === b || Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
}

/** `test-case` and `test-cases`, `python-2` and `python-3`. */
function differsHonestly(a: string, b: string): boolean {
  const [short = "", long = ""] = [a, b].toSorted((left, right) => left.length - right.length);
  if (long === `${short}s` || long.replaceAll("s-", "-") === short.replaceAll("s-", "-")) return true;
  return a.replace(/\d/g, "#") === b.replace(/\d/g, "#");
}
