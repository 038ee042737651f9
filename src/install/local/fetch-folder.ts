/** Local folders as sources: copied into the quarantine, or used where they are. */
import { realpathSync, statSync } from "node:fs";
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import { showPath } from "../../host/contained-path.ts";
import { isInside } from "../../host/places.ts";
import { realPathOr } from "../../host/project-folders.ts";
import type { FetchContext, FetchOutcome } from "../fetch-source.ts";
import { type FaultOutcome, faulty } from "../install-fault.ts";
import { describeRefusal } from "../refused-tree.ts";
import type { FolderAddress } from "../source-address.ts";
import { copyFolder } from "./copy-folder.ts";
import { describeLocalFault } from "./read-local-file.ts";

export async function fetchFolder(address: FolderAddress, context: FetchContext): Promise<FetchOutcome> {
  const { path, canonical } = address;
  let real: string;
  try {
    real = realpathSync.native(path);
    if (!statSync(real).isDirectory()) return notAFolder(path);
  } catch (fault) {
    return describeLocalFault(fault, path);
  }
  const wrong = whyNotFrom(path, real, context);
  if (wrong !== undefined) return wrong;
  const diagnostics: Diagnostic[] = real === path ? [] : [reportLink(path, real)];
  if (context.link) {
    return { ok: true, source: { folder: real, resolved: real, canonical, linked: true, diagnostics } };
  }
  const { into, limits, signal, onProgress } = context;
  const what = `Copying ${path}`;
  try {
    const onFile = (done: number, total: number): void => onProgress?.({ what, done, total });
    diagnostics.push(...(await copyFolder(real, into, { limits, signal, onFile })));
  } catch (fault) {
    return isSystemFault(fault) ? describeLocalFault(fault, path) : describeRefusal(fault, showPath(path));
  }
  return { ok: true, source: { folder: into, resolved: real, canonical, diagnostics } };
}

function notAFolder(path: string): FaultOutcome {
  return faulty(
    "source.invalid",
    `${showPath(path)} is neither a folder nor an archive or \`.md\` file.`,
    "Name a folder, a `.tar.gz`, `.tgz`, `.tar` or `.zip` file, or a `SKILL.md`.",
  );
}

function whyNotFrom(path: string, real: string, { into, store }: FetchContext): FaultOutcome | undefined {
  const own = [into, ...(store === undefined ? [] : [store])].map(realPathOr);
  if (own.some((folder) => isInside(real, folder))) {
    const hint = "Install from where the skill came from; `metier list` says what is installed.";
    return faulty("source.refused", `${showPath(path)} lies in Metier's own folder.`, hint);
  }
  if (own.some((folder) => isInside(folder, real))) {
    const hint = "Name a folder of skills, as `./skills`.";
    return faulty("source.refused", `${showPath(path)} holds Metier's own folder.`, hint);
  }
  return undefined;
}

function reportLink(path: string, real: string): Diagnostic {
  const message = `${showPath(path)} leads over a link to ${showPath(real)}, which is what is installed.`;
  return { code: "source.link", severity: "info", path, message };
}

function isSystemFault(fault: unknown): boolean {
  return fault instanceof Error && "syscall" in fault;
}
