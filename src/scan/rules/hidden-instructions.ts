/** Instructions where a model reads and no person looks: comments, alternative texts, titles, styles. */
import { isMarkdown } from "../file-kind.ts";
import { createLineFinder } from "../line-finder.ts";
import type { Hit, ScanRule } from "../rule.ts";
import type { ScannedDocument, ScannedSkill } from "../scanned-skill.ts";
import { CONCEAL, JAILBREAK, OVERRIDE, SECRET_PROSE, SEND_PROSE } from "./phrases.ts";
import { readsLikeInstruction } from "./prose.ts";

export const HIDDEN_INSTRUCTION_RULES: readonly ScanRule[] = [
  {
    id: "injection.hidden-comment",
    family: "injection",
    severity: "high",
    title: "A comment that is not shown gives instructions",
    explanation:
      "HTML comments vanish when Markdown is shown to a person, while a model reads them like any other text.",
    help: "Move what is meant for readers into the text; delete the rest.",
    find: function* (skill) {
      for (const { file, parts } of skill.documents) {
        for (const { text, line } of parts.comments) {
          const grade = gradeHidden(text);
          if (grade) yield { path: file.path, line, seen: text.trim(), severity: grade };
        }
      }
    },
  },
  {
    id: "injection.hidden-place",
    family: "injection",
    severity: "high",
    title: "Instructions stand where a reader does not see them",
    explanation:
      "Alternative texts, titles of links, `data:` addresses and elements that are styled away are read by a model and not by a person.",
    help: "Move what is meant for readers into the text; delete the rest.",
    find: findHiddenPlaces,
  },
];

function gradeHidden(text: string): Hit["severity"] | undefined {
  const isOrder = [OVERRIDE, JAILBREAK, CONCEAL].some((phrase) => text.search(phrase) !== -1);
  if (isOrder || (SEND_PROSE.test(text) && SECRET_PROSE.test(text))) return "high";
  if (/\b(?:curl|wget)\b[^\n]*\|\s*(?:ba|z)?sh\b|\bbase64\s+(?:-d|--decode)\b/.test(text)) return "high";
  return readsLikeInstruction(text) ? "medium" : undefined;
}

function* findHiddenPlaces(skill: ScannedSkill): Iterable<Hit> {
  for (const document of skill.documents) {
    const { file, parts } = document;
    for (const { text, title, address, line, isImage } of parts.links) {
      const said = isImage ? `${text} ${title}` : title;
      const grade = gradeHidden(said);
      if (grade)
        yield { path: file.path, line, seen: said.trim(), severity: grade === "high" ? "high" : "medium" };
      const decoded = decodeDataAddress(address);
      const inner = decoded && gradeHidden(decoded);
      if (decoded && inner)
        yield { path: file.path, line, seen: decoded, detail: "in a `data:` address", severity: inner };
    }
    yield* findStyledAway(document);
  }
}

function decodeDataAddress(address: string): string | undefined {
  const [, base64, data = ""] =
    /^data:text\/[^,;]*(?:;charset=[\w-]+)?(;base64)?,(.*)$/is.exec(address) ?? [];
  if (data === "") return undefined;
  if (base64) return Buffer.from(data, "base64").toString("utf8");
  try {
    return decodeURIComponent(data);
  } catch {
    return data; // A stray percent sign: it reads as it is written.
  }
}

const STYLED_AWAY =
  /<(\w{1,20})\b[^>]{0,300}(?:style\s*=\s*["'][^"']{0,300}(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?![.\d])|color\s*:\s*(?:white|#fff(?:fff)?|transparent))[^"']{0,300}["']|\shidden\b)[^>]{0,300}>([\s\S]{1,2000}?)<\/\1>/gi;

function* findStyledAway({ file, parts }: ScannedDocument): Iterable<Hit> {
  const text = parts.prose.join("\n");
  const placeOf = createLineFinder(text);
  for (const match of text.matchAll(STYLED_AWAY)) {
    const said = match[2] ?? "";
    const grade =
      gradeHidden(said) ??
      (isMarkdown(file.path) && said.trim().split(/\s+/).length > 4 ? "medium" : undefined);
    if (grade)
      yield {
        path: file.path,
        line: placeOf(match.index).line,
        seen: said.trim(),
        severity: grade,
      };
  }
}
