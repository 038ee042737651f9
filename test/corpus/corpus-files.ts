/** Real skill files outside the repository, with the reference validator's verdicts. Absent on most machines. */
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type ParsedSkill, parseSkill, splitFrontmatter } from "@metier/skills";
import { ROOT } from "../support/repository.ts";

const SKILLS = join(ROOT, "../shared/corpus/skills");
const INDEX = join(SKILLS, "manifest.jsonl");

export const CORPUS_IS_HERE: boolean = existsSync(INDEX);

export interface CorpusFile {
  /** Relative to the corpus. */
  readonly path: string;
  /** The reference validator's errors, a sentence when it crashed, `not-run` when it was not asked. */
  readonly verdict: readonly string[] | string;
  readonly text: string;
  /** What stands between the fences. */
  readonly yaml: string;
  readonly parsed: ParsedSkill;
}

interface IndexLine {
  readonly file: string;
  readonly skills_ref: readonly string[] | string;
}

export function readCorpus(): Promise<readonly CorpusFile[]> {
  const lines = readFileSync(INDEX, "utf8").split("\n").filter(Boolean);
  return Promise.all(lines.map((line) => readCorpusFile(JSON.parse(line) as IndexLine)));
}

async function readCorpusFile({ file, skills_ref: verdict }: IndexLine): Promise<CorpusFile> {
  const location = join(SKILLS, file);
  const directory = dirname(location);
  const text = readFileSync(location, "utf8");
  const candidate = {
    form: "directory",
    file: location,
    directory,
    defaultName: basename(directory),
  } as const;
  const parsed = await parseSkill(candidate, text);
  return { path: file, verdict, text, yaml: splitFrontmatter(text).yaml ?? "", parsed };
}
