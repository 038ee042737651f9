/**
 * Sites that list skills in an index: the index says what there is, so that only skills that were asked for are
 * downloaded. Each is held against the digest in the index; the older form of the index has none.
 */
import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { showPath } from "../../host/contained-path.ts";
import { removeFolder } from "../../host/remove-folder.ts";
import { digestBytes } from "../../trust/identify-file.ts";
import { unpackArchive } from "../archives/unpack-archive.ts";
import { download } from "../download.ts";
import type { FetchContext, FetchOutcome } from "../fetch-source.ts";
import { type FaultOutcome, faulty } from "../install-fault.ts";
import { measureTree } from "../measure-tree.ts";
import { describeRefusal } from "../refused-tree.ts";
import type { WellKnownAddress } from "../source-address.ts";
import type { SourceLimits } from "../source-limits.ts";
import { createTreeWriter } from "../tree-writer.ts";
import { type IndexedSkill, type IndexReading, readSkillIndex } from "./skill-index.ts";

const MAX_INDEX_BYTES: number = 4 * 1024 * 1024;
const PLACE = "/.well-known/agent-skills/";
const OLD_PLACE = "/.well-known/skills/";

export async function fetchWellKnown(
  address: WellKnownAddress,
  context: FetchContext,
): Promise<FetchOutcome> {
  const index = await fetchIndex(address.url, context);
  if (!index.ok) return index;
  const { skills, url, digest } = index;
  const { wanted } = context;
  const chosen = wanted === undefined ? skills : skills.filter(({ name }) => wanted.includes(name));
  if (chosen.length === 0) return nothingChosen(url, wanted, skills);
  const diagnostics = index.faults.map((message) => {
    return { code: "source.unusable-entry", severity: "warning", path: url, message } as const;
  });
  let left = context.limits;
  for (const skill of chosen) {
    const fault = await fetchSkill(skill, url, { ...context, limits: left });
    if (fault !== undefined) return fault;
    left = subtract(left, join(context.into, skill.name));
  }
  const { canonical } = address;
  return { ok: true, source: { folder: context.into, resolved: digest, canonical, diagnostics } };
}

type IndexOutcome =
  | (IndexReading & { readonly ok: true; readonly url: string; readonly digest: string })
  | FaultOutcome;

/** The old place is looked at where the new one has nothing. */
async function fetchIndex(url: string, context: FetchContext): Promise<IndexOutcome> {
  const got = await download({ url, maxBytes: MAX_INDEX_BYTES, packed: true }, context);
  if (!got.ok) {
    const isMissing = got.fault.code === "source.not_found" && url.includes(PLACE);
    return isMissing ? fetchIndex(url.replace(PLACE, OLD_PLACE), context) : got;
  }
  const reading = readSkillIndex(got.bytes.toString(), url);
  if (reading.ok) return { ...reading, url, digest: digestBytes(got.bytes) };
  const hint = "Tell whoever runs the site, or install the skills from their repository.";
  return faulty("source.damaged", `The index ${showPath(url)} cannot be used. ${reading.message}`, hint);
}

/** Puts it into a folder of its name. */
async function fetchSkill(
  { name, content }: IndexedSkill,
  index: string,
  context: FetchContext,
): Promise<FaultOutcome | undefined> {
  const folder = join(context.into, name);
  try {
    if (content.type === "files") return await fetchFiles(content.files, folder, index, context);
    const { url, type, digest } = content;
    const got = await download({ url, typed: index, maxBytes: context.limits.bytes }, context);
    if (!got.ok) return got;
    const actual = digestBytes(got.bytes);
    if (actual !== digest) {
      const message = `\`${name}\` is not what the index announces: its digest is \`${actual}\`, not \`${digest}\`.`;
      return faulty("source.damaged", message, "Try again; if it stays so, tell whoever runs the site.");
    }
    if (type === "skill-md") await writeFiles(folder, [["SKILL.md", got.bytes]], context.limits);
    else await unpackInto(folder, got.bytes, context);
    return undefined;
  } catch (fault) {
    return describeRefusal(fault, `\`${name}\` of ${showPath(index)}`);
  }
}

async function fetchFiles(
  files: readonly { readonly path: string; readonly url: string }[],
  folder: string,
  index: string,
  context: FetchContext,
): Promise<FaultOutcome | undefined> {
  const got: [path: string, bytes: Buffer][] = [];
  let left = context.limits.bytes;
  for (const { path, url } of files) {
    const outcome = await download({ url, typed: index, maxBytes: left }, context);
    if (!outcome.ok) return outcome;
    left -= outcome.bytes.length;
    got.push([path, outcome.bytes]);
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

/** Whether or not the archive has a folder around it, the skill's files lie directly in `folder`. */
async function unpackInto(folder: string, bytes: Buffer, context: FetchContext): Promise<void> {
  const unpacked = `${folder}.unpacked`;
  mkdirSync(unpacked);
  renameSync((await unpackArchive(bytes, unpacked, context)).folder, folder);
  removeFolder(unpacked);
}

function subtract(limits: SourceLimits, folder: string): SourceLimits {
  const used = measureTree(folder);
  return { ...limits, files: limits.files - used.files, bytes: limits.bytes - used.bytes };
}

function nothingChosen(
  url: string,
  wanted: readonly string[] | undefined,
  skills: readonly IndexedSkill[],
): FaultOutcome {
  const names = skills.slice(0, 20).map(({ name }) => `\`${name}\``);
  if (wanted === undefined || names.length === 0) {
    const hint = "Tell whoever runs the site, or install the skills from their repository.";
    return faulty("source.not_found", `The index ${showPath(url)} lists no skill that can be used.`, hint);
  }
  const asked = wanted.map(showPath).join(", ");
  const more = skills.length > names.length ? ` and ${skills.length - names.length} more` : "";
  return faulty(
    "source.not_found",
    `The index ${showPath(url)} does not list ${asked}.`,
    `It lists ${names.join(", ")}${more}.`,
  );
}
