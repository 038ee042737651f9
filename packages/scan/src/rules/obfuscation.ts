/** Code that hides what it is. */
import { type Act, createLineFinder, hasTaint, UNKNOWN } from "../code/code-part.ts";
import type { Hit, RuleTable, ScannedSkill, TextFile } from "../scanned-skill.ts";
import { actHit, actsOf, isDocumented, isOnlyGiven, textFiles } from "./find-hits.ts";

const EVALUATES =
  /^(?:eval|exec|execfile|Function|AsyncFunction|vm\.|.*\._compile|.*\.constructor|(?:ba|z|da|k)?sh$|iex$|Invoke-Expression$|python|node$|perl$|pwsh|powershell)/i;

export const OBFUSCATION_RULES: RuleTable = {
  "obfuscation.decoded-code": {
    severity: "block",
    title: "Code is decoded and executed",
    explanation:
      "Base64, hexadecimal or compressed text that is turned into code and run at once has one purpose: that nobody reads it. It is `block` where the code is part of a script, `high` otherwise.",
    help: "Do not use the skill. If it is yours, write the code as it is.",
    *find(skill) {
      for (const act of actsOf(skill, "run")) {
        if (!hasTaint(act.taints, "decoded") || isOnlyGiven(act, STARTERS)) continue;
        const isOwn = !hasTaint(act.taints, "remote") && !isDocumented(act);
        yield actHit(act, isOwn ? "block" : "high", showCode(act));
      }
    },
  },
  "obfuscation.built-code": {
    severity: "high",
    title: "Code is put together from pieces and executed",
    explanation:
      "Texts that are joined letter by letter or word by word and then evaluated are not meant to be found by reading.",
    help: "Write the code as it is.",
    *find(skill) {
      for (const act of actsOf(skill, "run")) {
        const isCode = EVALUATES.test(act.target ?? "") && !hasTaint(act.taints, "decoded", "remote");
        if (isCode && act.isBuilt && act.content !== undefined && act.content.length > 3)
          yield actHit(act, "high", showCode(act));
      }
    },
  },
  "obfuscation.dynamic-code": {
    severity: "medium",
    title: "Text that is not known is executed as code",
    explanation:
      "`eval` and `exec` run whatever they are given. Where it comes from cannot be seen in this file, so it is only worth a look.",
    help: "Parse the value instead of evaluating it.",
    *find(skill) {
      for (const act of actsOf(skill, "run")) {
        const isCode =
          /^(?:eval|exec|execfile|Function|AsyncFunction|vm\.)/.test(act.target ?? "") &&
          act.part.language !== "shell";
        const isPlain = !hasTaint(act.taints, "decoded", "remote") && act.content === undefined;
        if (isCode && isPlain) yield actHit(act, isDocumented(act) ? "info" : "low");
      }
    },
  },
  "obfuscation.hidden-name": {
    severity: "high",
    title: "The name of what is called is hidden",
    explanation:
      'A command such as `c""url`, or a function that is looked up by a name put together from pieces, does the same as the plain name; only a reader or a filter does not find it.',
    help: "Write the name as it is.",
    *find(skill) {
      for (const act of actsOf(skill, "command", "run")) {
        const name = act.kind === "command" ? act.words?.[0] : act.target;
        if (act.isHidden) yield actHit(act, "high", `\`${name ?? ""}\``);
      }
    },
  },
  "obfuscation.encoded-blob": {
    severity: "medium",
    title: "A long encoded text stands in a script",
    explanation:
      "It may be an image or a certificate, or code that is to be decoded later. Only scripts are looked at, and data that says what it is does not count.",
    help: "Put data into a file of its own, with an ending that says what it is.",
    find: findBlobs,
  },
  "obfuscation.character-codes": {
    severity: "medium",
    title: "A script spells text in character codes",
    explanation:
      "Long lists of numbers that stand for letters, or of `\\x41` escapes, are a way to write what nobody is to read.",
    help: "Write the text as it is.",
    find: findCodes,
  },
  "obfuscation.minified": {
    severity: "low",
    title: "A script is written in very long lines",
    explanation:
      "Minified code cannot be reviewed. Libraries are often shipped so; a skill's own script has no reason to.",
    help: "Ship the source, or install the library as a package.",
    *find(skill) {
      for (const { path, text } of scripts(skill)) {
        const lines = text.split("\n");
        const isCode = (line: string): boolean =>
          /[;{}()]/.test(line) && !/^[\s"'`A-Za-z0-9+/=,]*$/.test(line);
        const at = lines.findIndex((line) => line.length > 2000 && isCode(line));
        if (at !== -1) yield { path, line: at + 1, seen: (lines[at] ?? "").slice(0, 120) };
      }
    },
  },
};

function scripts(skill: ScannedSkill): readonly TextFile[] {
  return textFiles(skill).filter(({ language }) => language !== undefined);
}

const STARTERS = /^(?:subprocess\.|child_process\.(?:spawn|execFile)|execa)/;

function showCode({ content }: Act): string | undefined {
  const code = content?.replaceAll(UNKNOWN, "…").replace(/\s+/g, " ").trim() ?? "";
  return code === "" || code === "…" ? undefined : `it reads “${code.slice(0, 80)}”`;
}

const BLOB = /(?<![A-Za-z0-9+/=_-])(?:[A-Za-z0-9+/]{400,}={0,2}|(?:[0-9a-fA-F]{2}){300,})(?![A-Za-z0-9+/=])/g;
/** Data that says what it is: images, fonts, certificates, digests of lock files. */
const DECLARED =
  /data:(?:image|font|audio|video|application\/(?:font|pdf|x-font|octet-stream))[\w/+.;=-]*,?$|sha(?:256|384|512)[-:]$|-----BEGIN [A-Z ]*-----\s*$/;
const KNOWN_DATA = /^(?:iVBORw0KGgo|\/9j\/|R0lGOD|JVBERi0|UklGR|AAABAA|d09GR|AAEAAA|T1RUTw|PHN2Zy|PD94bWw)/;

function* findBlobs(skill: ScannedSkill): Iterable<Hit> {
  for (const { path, text } of scripts(skill)) {
    const placeOf = createLineFinder(text);
    for (const { 0: blob, index } of text.matchAll(BLOB)) {
      const before = text.slice(Math.max(0, index - 80), index);
      if (
        DECLARED.test(before.replace(/["'`]$/, "")) ||
        DECLARED.test(before) ||
        KNOWN_DATA.test(blob) ||
        new Set(blob.slice(0, 400)).size < 12
      )
        continue;
      const { line } = placeOf(index);
      yield { path, line, seen: `${blob.slice(0, 40)}…`, detail: `${blob.length} characters` };
    }
  }
}

const CODES =
  /(?:\\x[0-9a-fA-F]{2}){40,}|(?:\\u00[0-9a-fA-F]{2}){40,}|(?:(?:0x[0-9a-fA-F]{2}|1?\d{2}),\s*){60,}/g;

function* findCodes(skill: ScannedSkill): Iterable<Hit> {
  for (const { path, text } of scripts(skill)) {
    const placeOf = createLineFinder(text);
    for (const { 0: codes, index } of text.matchAll(CODES)) {
      if (readsAsText(codes)) yield { path, line: placeOf(index).line, seen: codes.slice(0, 80) };
    }
  }
}

/** What the numbers spell is text; tables of numbers are something else. */
function readsAsText(codes: string): boolean {
  const numbers = codes.match(/[0-9a-fA-F]{2,3}/g)?.slice(0, 80) ?? [];
  const isHexadecimal = codes.includes("x") || codes.includes("u");
  const letters = numbers.map((number) => Number.parseInt(number, isHexadecimal ? 16 : 10));
  const printable = letters.filter((code) => code === 10 || (code >= 32 && code < 127)).length;
  const words = letters.filter((code) => code === 32 || (code >= 97 && code <= 122)).length;
  return printable / letters.length > 0.95 && words / letters.length > 0.5;
}
