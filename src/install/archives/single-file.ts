/** One skill file that was downloaded by itself: it becomes the folder of a skill that has nothing else. */
import { isUtf8 } from "node:buffer";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folderName } from "../../host/folder-name.ts";
import { parseSkill } from "../../parse/parse-skill.ts";
import { validateSkill } from "../../validate/validate-skill.ts";
import { RefusedTree } from "../refused-tree.ts";
import type { UnpackedTree } from "./unpack-archive.ts";

const WEB_PAGE = /^\s*<(?:!doctype html|html)/i;

/** The folder in `into`, named as the skill names itself, or else by `defaultName`. Throws `RefusedTree`. */
export async function writeSingleFile(
  bytes: Buffer,
  into: string,
  defaultName: string,
): Promise<UnpackedTree> {
  if (!isUtf8(bytes) || bytes.includes(0)) throw new RefusedTree("source.damaged", "It is no UTF-8 text.");
  const text = bytes.toString();
  if (WEB_PAGE.test(text)) {
    throw new RefusedTree(
      "source.damaged",
      "It is a web page; the file itself has another address, often with `raw` in it.",
    );
  }
  const candidate = { form: "directory", file: "SKILL.md", directory: into, defaultName } as const;
  const { manifest } = validateSkill(await parseSkill(candidate, text), "standard");
  const folder = join(into, folderName(manifest?.name ?? defaultName));
  mkdirSync(folder);
  writeFileSync(join(folder, "SKILL.md"), bytes, { flag: "wx", mode: 0o644 });
  return { folder, diagnostics: [] };
}

/** `…/pdf/SKILL.md` is `pdf`, `…/pdf.md` too. */
export function nameByAddress(pathname: string): string {
  const segments = pathname.split("/").filter(Boolean);
  const file = segments.at(-1) ?? "skill";
  const isSkillFile = /^skill\.md$/i.test(file);
  return (isSkillFile ? segments.at(-2) : file.replace(/\.md$/i, "")) ?? "skill";
}
