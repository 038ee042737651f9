/**
 * Sites that list skills in an index, so that only requested skills are downloaded. Each is compared with its digest in
 * the index; the older form of the index has none.
 */
import { lstatSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { digestBytes } from "@metier/base/digest";
import { removeFolder, showPath } from "@metier/base/files";
import { done, type Refused, type Result } from "@metier/base/result";
import { SKILL_FILE } from "@metier/skills";
import type { WellKnownAddress } from "../addresses/source-address.ts";
import { unpackArchive } from "../archives/unpack-archive.ts";
import { download } from "../download.ts";
import type { FetchContext, SourceFetch } from "../fetch-source.ts";
import { describeRefusal, faulty, type InstallFault } from "../install-fault.ts";
import type { SourceLimits } from "../source-limits.ts";
import { createTreeWriter } from "../tree-writer.ts";
import { readSkillIndex, type SiteIndex, type SiteSkill } from "./skill-index.ts";

const MAX_INDEX_BYTES: number = 4 * 1024 * 1024;
const PLACE = "/.well-known/agent-skills/";
const OLD_PLACE = "/.well-known/skills/";

export async function fetchWellKnown(address: WellKnownAddress, context: FetchContext): Promise<SourceFetch> {
  const index = await fetchIndex(address.url, context);
  if (!index.ok) return index;
  const { skills, url, digest, faults } = index.value;
  const { wanted } = context;
  const chosen = wanted === undefined ? skills : skills.filter(({ name }) => wanted.includes(name));
  if (chosen.length === 0) return nothingChosen(url, wanted, skills);
  const diagnostics = faults.map((message) => {
    return { code: "source.unusable-entry", severity: "warning", path: url, message } as const;
  });
  let left = context.limits;
  for (const skill of chosen) {
    const fault = await fetchSkill(skill, url, { ...context, limits: left });
    if (fault !== undefined) return fault;
    left = subtract(left, join(context.into, skill.name));
  }
  const { canonical } = address;
  return done({ folder: context.into, resolved: digest, canonical, diagnostics });
}

type FetchedIndex = SiteIndex & { readonly url: string; readonly digest: string };

/** Uses the old path if the new one has nothing. */
async function fetchIndex(url: string, context: FetchContext): Promise<Result<FetchedIndex, InstallFault>> {
  const got = await download({ url, maxBytes: MAX_INDEX_BYTES, packed: true }, context);
  if (!got.ok) {
    const isMissing = got.refusal.code === "source.not_found" && url.includes(PLACE);
    return isMissing ? fetchIndex(url.replace(PLACE, OLD_PLACE), context) : got;
  }
  const reading = readSkillIndex(got.value.bytes.toString(), url);
  if (reading.ok) return done({ ...reading.value, url, digest: digestBytes(got.value.bytes) });
  const hint = "Tell the operator of the site, or install the skills from their repository.";
  const message = `The index ${showPath(url)} is not valid. ${reading.refusal.message}`;
  return faulty("source.damaged", message, hint);
}

/** Puts it into a folder with its name. */
async function fetchSkill(
  { name, content }: SiteSkill,
  index: string,
  context: FetchContext,
): Promise<Refused<InstallFault> | undefined> {
  const folder = join(context.into, name);
  try {
    if (content.type === "files") return await fetchFiles(content.files, folder, index, context);
    const { url, type, digest } = content;
    const got = await download({ url, typed: index, maxBytes: context.limits.bytes }, context);
    if (!got.ok) return got;
    const actual = digestBytes(got.value.bytes);
    if (actual !== digest) {
      const message = `\`${name}\` does not match the index: its digest is \`${actual}\`, not \`${digest}\`.`;
      return faulty(
        "source.damaged",
        message,
        "Try again; if it happens again, tell the operator of the site.",
      );
    }
    if (type === "skill-md") await writeFiles(folder, [[SKILL_FILE, got.value.bytes]], context.limits);
    else await unpackInto(folder, got.value.bytes, context);
    return undefined;
  } catch (fault) {
    return describeRefusal(fault, `\`${name}\` from ${showPath(index)}`);
  }
}

async function fetchFiles(
  files: readonly { readonly path: string; readonly url: string }[],
  folder: string,
  index: string,
  context: FetchContext,
): Promise<Refused<InstallFault> | undefined> {
  const got: [path: string, bytes: Buffer][] = [];
  let left = context.limits.bytes;
  for (const { path, url } of files) {
    const outcome = await download({ url, typed: index, maxBytes: left }, context);
    if (!outcome.ok) return outcome;
    left -= outcome.value.bytes.length;
    got.push([path, outcome.value.bytes]);
  }
  await writeFiles(folder, got, context.limits);
  return undefined;
}

async function writeFiles(
  folder: string,
  files: readonly (readonly [path: string, bytes: Buffer])[],
  limits: SourceLimits,
): Promise<void> {
  mkdirSync(folder);
  const writer = createTreeWriter(folder, limits);
  for (const [path, bytes] of files) {
    await writer.addFile(path, { executable: false, size: bytes.length, content: [bytes] });
  }
}

/** Whether or not the archive has a top folder, the skill's files end up directly in `folder`. */
async function unpackInto(folder: string, bytes: Buffer, context: FetchContext): Promise<void> {
  const unpacked = `${folder}.unpacked`;
  mkdirSync(unpacked);
  renameSync((await unpackArchive(bytes, unpacked, context)).folder, folder);
  removeFolder(unpacked);
}

function subtract(limits: SourceLimits, folder: string): SourceLimits {
  let { files, bytes } = limits;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue;
    files -= 1;
    bytes -= lstatSync(join(entry.parentPath, entry.name)).size;
  }
  return { ...limits, files, bytes };
}

function nothingChosen(
  url: string,
  wanted: readonly string[] | undefined,
  skills: readonly SiteSkill[],
): Refused<InstallFault> {
  const names = skills.slice(0, 20).map(({ name }) => `\`${name}\``);
  if (wanted === undefined || names.length === 0) {
    const hint = "Tell the operator of the site, or install the skills from their repository.";
    return faulty("source.not_found", `The index ${showPath(url)} lists no usable skill.`, hint);
  }
  const asked = wanted.map(showPath).join(", ");
  const more = skills.length > names.length ? ` and ${skills.length - names.length} more` : "";
  const message = `The index ${showPath(url)} does not list ${asked}.`;
  return faulty("source.not_found", message, `It lists ${names.join(", ")}${more}.`);
}
