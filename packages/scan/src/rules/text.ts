/** Characters that make a text read differently to a person and a model, and names that imitate others. */
import { nameCodePoint, takeOutInvisible } from "@metier/base/text";
import { createLineFinder } from "../code/code-part.ts";
import type { Hit, RuleTable, ScannedSkill, TextFile } from "../scanned-skill.ts";
import { remember, textFiles } from "./find-hits.ts";

const TAG = /^[\u{E0000}-\u{E007F}]/u;
const BIDIRECTIONAL = /^[\u202A-\u202E\u2066-\u2069]/u;
/** This many in a row are not left over from copying: they spell something. */
const MESSAGE_LENGTH = 8;

interface Run {
  readonly at: number;
  readonly characters: readonly string[];
}

const runsIn = new WeakMap<TextFile, readonly Run[]>();

/** Adjacent hidden characters. */
function hiddenRuns({ text }: TextFile): readonly Run[] {
  const runs: { at: number; end: number; characters: string[] }[] = [];
  const skipped = text.startsWith("\uFEFF") ? 1 : 0;
  for (const { character, index } of takeOutInvisible(text).hidden) {
    if (index < skipped) continue;
    const last = runs.at(-1);
    if (last?.end === index) {
      last.characters.push(character);
      last.end += character.length;
    } else runs.push({ at: index, end: index + character.length, characters: [character] });
  }
  return runs;
}

function* findRuns(
  skill: ScannedSkill,
  isMeant: (run: Run) => boolean,
  describe: (run: Run) => string,
): Iterable<Hit> {
  for (const file of textFiles(skill)) {
    if (file.isAscii) continue;
    const placeOf = createLineFinder(file.text);
    for (const run of remember(runsIn, file, () => hiddenRuns(file))) {
      if (!isMeant(run)) continue;
      const names = run.characters.map(nameCodePoint).join(" ");
      yield { path: file.path, ...placeOf(run.at), seen: names, detail: describe(run) };
    }
  }
}

function isTagged({ characters }: Run): boolean {
  return characters.some((character) => TAG.test(character));
}

function isTurned({ characters }: Run): boolean {
  return characters.some((character) => BIDIRECTIONAL.test(character));
}

/** Tag characters are shifted ASCII. */
function readTags(characters: readonly string[]): string {
  return characters
    .map((character) => (character.codePointAt(0) ?? 0) - 0xe0000)
    .filter((code) => code >= 0x20 && code < 0x7f)
    .map((code) => String.fromCharCode(code))
    .join("");
}

/** Letters of other scripts that look like Latin ones. */
const LOOKALIKES =
  /[\u0430\u0435\u043E\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u051B\u051D\u04BB\u0410\u0412\u0415\u041A\u041C\u041D\u041E\u0420\u0421\u0422\u0425\u0406\u0408\u0405\u03BF\u03B1\u03BD\u03C1\u0391\u0392\u0395\u0396\u0397\u0399\u039A\u039C\u039D\u039F\u03A1\u03A4\u03A5\u03A7\u0261\u0251\u1D04\u1D0F\u2C9F]/u;
const WORD = /[\p{L}\p{N}._-]*[A-Za-z][\p{L}\p{N}._-]*/gu;

export const TEXT_RULES: RuleTable = {
  "text.tag-characters": {
    severity: "block",
    title: "Text is hidden in tag characters",
    explanation:
      "Tag characters (U+E0000 to U+E007F) are invisible to people, but a model reads them as letters. Except in three flags they have no use in text, so they are there to give instructions that nobody sees.",
    help: "Do not use the skill. If it is yours, delete the characters.",
    find: (skill) =>
      findRuns(skill, isTagged, ({ characters }) => {
        const message = readTags(characters);
        return message === "" ? `${characters.length} of them` : `they spell “${message.slice(0, 80)}”`;
      }),
  },
  "text.bidirectional": {
    severity: "high",
    title: "Characters change the text direction",
    explanation:
      "Bidirectional overrides and isolates make a line look different from what a program or model reads: code can appear as a comment. Right-to-left scripts do not need them.",
    help: "Delete them; check the line in an editor that shows them.",
    find: (skill) =>
      findRuns(
        skill,
        (run) => isTurned(run) && !isTagged(run),
        ({ characters: [first = ""] }) => `${nameCodePoint(first)} first`,
      ),
  },
  "text.invisible-message": {
    severity: "high",
    title: "Contains a long run of invisible characters",
    explanation:
      "Zero-width characters and variation selectors can encode a message, one bit or byte each. A few come from copying; a long run in one place is deliberate.",
    help: "Delete them. If you did not put them there, do not use the skill.",
    find: (skill) =>
      findRuns(
        skill,
        (run) => !isTagged(run) && !isTurned(run) && run.characters.length >= MESSAGE_LENGTH,
        ({ characters }) => `${characters.length} in a row`,
      ),
  },
  "text.invisible": {
    severity: "low",
    title: "Contains invisible characters",
    explanation:
      "Zero-width characters split words for a filter while a model reads on. Single ones are mostly left over from copying, so this only deserves a look.",
    help: "Delete them, unless you know why they are there.",
    find: (skill) =>
      findRuns(
        skill,
        (run) => !isTagged(run) && !isTurned(run) && run.characters.length < MESSAGE_LENGTH,
        ({ characters: [first = ""] }) => nameCodePoint(first),
      ),
  },
  "text.homoglyph": {
    severity: "medium",
    title: "A word mixes Latin letters with lookalikes",
    explanation:
      "A Cyrillic or Greek letter inside a Latin word makes a name, host or command look like another. Real words do not mix scripts.",
    help: "Write the word in one script; check where addresses and commands really lead.",
    find: findLookalikes,
  },
  "text.terminal-escape": {
    severity: "medium",
    title: "A document contains terminal control sequences",
    explanation:
      "A terminal obeys escape characters in a document it shows: they can overwrite earlier output, and so hide text from a person who uses `cat`.",
    help: "Delete them.",
    *find(skill) {
      for (const { file } of skill.documents) {
        if (!file.text.includes("\u001B")) continue;
        const placeOf = createLineFinder(file.text);
        for (const match of file.text.matchAll(/\u001B[[\]PX^_][ -~]{0,20}/g)) {
          const seen = match[0].replace("\u001B", "ESC ");
          yield { path: file.path, ...placeOf(match.index), seen };
        }
      }
    },
  },
};

function* findLookalikes(skill: ScannedSkill): Iterable<Hit> {
  for (const file of textFiles(skill)) {
    if (file.isAscii || !LOOKALIKES.test(file.text)) continue;
    const placeOf = createLineFinder(file.text);
    for (const { 0: word, index } of file.text.matchAll(WORD)) {
      if (!isMixed(word)) continue;
      const before = file.text.slice(Math.max(0, index - 8), index);
      const isAddress = /:\/\/$|@$/.test(before) || /\.[a-z]{2,}$/.test(word);
      yield {
        path: file.path,
        ...placeOf(index),
        seen: word,
        detail: [...word]
          .filter((letter) => LOOKALIKES.test(letter))
          .map(nameCodePoint)
          .slice(0, 4)
          .join(" "),
        severity: isAddress ? "medium" : "low",
      };
    }
  }
}

/** Latin letters around a lookalike, and no other letter of its script: real words of that script have more of them. */
function isMixed(word: string): boolean {
  if (!LOOKALIKES.test(word)) return false;
  const letters = [...word].filter((letter) => /\p{L}/u.test(letter));
  const latin = letters.filter(
    (letter) => /\p{Script=Latin}/u.test(letter) && !LOOKALIKES.test(letter),
  ).length;
  const alike = letters.filter((letter) => LOOKALIKES.test(letter)).length;
  return alike > 0 && latin >= 2 && alike + latin === letters.length && latin >= alike;
}

/** Popular skills: from public example collections, and bundled with Metier. */
const WELL_KNOWN_NAMES: readonly string[] = [
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

/** Shorter names are similar by chance. */
const LEAST_LENGTH = 6;

export const NAME_RULES: RuleTable = {
  "names.lookalike-letters": {
    severity: "high",
    title: "The name contains lookalike letters",
    explanation:
      "A name in mixed scripts, or with digits for letters (`c0de-review`), is read as the name it imitates.",
    help: "Check where the skill comes from. If it is yours, write the name in plain letters.",
    find: findLookalikeName,
  },
  "names.near": {
    severity: "medium",
    title: "The name is one letter away from another skill's name",
    explanation:
      "People and models pick skills by name; a typo must not lead to someone else's. Plurals and trailing numbers do not count.",
    help: "Check that it is the skill you meant.",
    find: findNear,
  },
};

/** Skills that are scanned together know the same names. */
function knownNames({ knownNames }: ScannedSkill): readonly string[] {
  return remember(allNames, knownNames, () => [...new Set([...WELL_KNOWN_NAMES, ...knownNames])]);
}

const allNames = new WeakMap<readonly string[], readonly string[]>();

const LOOKALIKE_DIGITS: Readonly<Record<string, string>> = { "0": "o", "1": "l", "3": "e", "5": "s" };

function* findLookalikeName(skill: ScannedSkill): Iterable<Hit> {
  const plain = skill.name.normalize("NFKC");
  const isForeign = /[a-z]/.test(plain) && isMixed(plain);
  const spelled = plain
    .replace(/[0135]/g, (digit) => LOOKALIKE_DIGITS[digit] ?? digit)
    .replace(/rn/g, "m")
    .replace(/vv/g, "w");
  const imitated = knownNames(skill).find(
    (known) => known.length >= 4 && spelled === known && plain !== known && known !== skill.name,
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
  if (near !== undefined) yield at(skill, `it is close to \`${near}\``);
}

function at(skill: ScannedSkill, detail: string | undefined): Hit {
  const position = skill.parsed?.position("name") ?? { line: 1 };
  return { path: skill.skillFile, ...position, seen: skill.name, detail };
}

/** One letter added, removed or changed, two neighbors swapped, or one hyphen more or less. */
function isOneEditAway(a: string, b: string): boolean {
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
