/** A file of this machine that the user named as a source, whole and bounded. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { showPath } from "../../host/contained-path.ts";
import { type FaultOutcome, faulty } from "../install-fault.ts";

export type LocalFileOutcome = { readonly ok: true; readonly bytes: Buffer } | FaultOutcome;

/** A FIFO that nobody writes to must not keep anyone waiting. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

export function readLocalFile(path: string, maxBytes: number): LocalFileOutcome {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, FLAGS);
    const stats = fstatSync(descriptor);
    if (stats.isDirectory()) {
      const hint = `Write \`${path}/\` with a name that has no such ending, or move the folder.`;
      return faulty("source.invalid", `${showPath(path)} is a folder with the name of a file.`, hint);
    }
    if (!stats.isFile()) {
      return faulty("source.unsafe", `${showPath(path)} is not a regular file.`, "Name a file or a folder.");
    }
    if (stats.size > maxBytes) {
      const message = `${showPath(path)} has ${stats.size} bytes; at most ${maxBytes} are read.`;
      return faulty("source.limited", message, "Unpack it and install the folder of one skill.");
    }
    return { ok: true, bytes: readFileSync(descriptor) };
  } catch (fault) {
    return describeLocalFault(fault, path);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Why a path of this machine cannot be a source. */
export function describeLocalFault(fault: unknown, path: string): FaultOutcome {
  const { code = "unknown fault", message } = fault as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") {
    return faulty("source.not_found", `${showPath(path)} does not exist.`, "Check the path.");
  }
  if (code === "EACCES" || code === "EPERM") {
    return faulty("source.failed", `${showPath(path)} may not be read.`, "Check its permissions.");
  }
  return faulty("source.failed", `${showPath(path)} cannot be read: ${message}.`, "Check the path.");
}
