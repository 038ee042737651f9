/** Code that hides what it is. */
import { type Act, createLineFinder, hasTaint, UNKNOWN } from "../code/code-part.ts";
import type { Hit, RuleTable, ScannedSkill, TextFile } from "../scanned-skill.ts";
import { actHit, actsOf, isDocumented, isOnlyGiven, textFiles } from "./find-hits.ts";

const EVALUATES =
  /^(?:eval|exec|execfile|Function|AsyncFunction|vm\.|.*\._compile|.*\.constructor|(?:ba|z|da|k)?sh$|iex$|Invoke-Expression$|python|node$|perl$|pwsh|powershell)/i;

export const OBFUSCATION_RULES: RuleTable = {
  "obfuscation.decoded-code": {
    severity: "block",
    title: "Decodes code and executes it",
    explanation:
      "Turning Base64, hexadecimal or compressed text into code and running it at once has one purpose: that nobody reads it. `block` if the code is part of a script, otherwise `high`.",
    help: "Do not use the skill. If it is yours, write the code in plain text.",
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
    title: "Builds code from pieces and executes it",
    explanation:
      "Strings joined letter by letter or word by word and then evaluated are meant to escape a reader.",
    help: "Write the code in plain text.",
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
    title: "Executes unknown text as code",
    explanation:
      "`eval` and `exec` run whatever they are given. This file does not show where it comes from, so it only deserves a look.",
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
    title: "Hides the name of what it calls",
    explanation:
      'A command such as `c""url`, or a function looked up by a name built from pieces, does the same as the plain name, but a reader or filter does not find it.',
    help: "Write the plain name.",
    *find(skill) {
      for (const act of actsOf(skill, "command", "run")) {
        const name = act.kind === "command" ? act.words?.[0] : act.target;
        if (act.isHidden) yield actHit(act, "high", `\`${name ?? ""}\``);
      }
    },
  },
  "obfuscation.encoded-blob": {
    severity: "medium",
    title: "A script contains a long encoded text",
    explanation:
      "It may be an image, a certificate, or code to be decoded later. Only scripts are checked, and data that says what it is does not count.",
    help: "Put the data into a separate file with the right extension.",
    find: findBlobs,
  },
  "obfuscation.character-codes": {
    severity: "medium",
    title: "A script spells text in character codes",
    explanation:
      "Long lists of numbers that stand for letters, or of `\\x41` escapes, keep people from reading the text.",
    help: "Write the text in plain form.",
    find: findCodes,
  },
  "obfuscation.minified": {
    severity: "low",
    title: "A script has very long lines",
    explanation:
      "Minified code cannot be reviewed. Libraries often ship minified; a skill's own script has no reason to.",
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
/** Data that says what it is: images, fonts, certificates, digests in lock files. */
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

/** The numbers spell text; tables of numbers are something else. */
function readsAsText(codes: string): boolean {
  const numbers = codes.match(/[0-9a-fA-F]{2,3}/g)?.slice(0, 80) ?? [];
  const isHexadecimal = codes.includes("x") || codes.includes("u");
  const letters = numbers.map((number) => Number.parseInt(number, isHexadecimal ? 16 : 10));
  const printable = letters.filter((code) => code === 10 || (code >= 32 && code < 127)).length;
  const words = letters.filter((code) => code === 32 || (code >= 97 && code <= 122)).length;
  return printable / letters.length > 0.95 && words / letters.length > 0.5;
}
