/** Faults of the interpreted shell's file system, worded as its commands expect them. They name the path that the shell used. */

const TEXTS = {
  EACCES: "permission denied",
  EBUSY: "resource busy or locked",
  EEXIST: "file already exists",
  EFBIG: "file too large",
  EINVAL: "invalid argument",
  EISDIR: "illegal operation on a directory",
  ELOOP: "too many levels of symbolic links",
  ENOENT: "no such file or directory",
  ENOSPC: "no space left on device",
  ENOTDIR: "not a directory",
  ENOTEMPTY: "directory not empty",
  EPERM: "operation not permitted",
  EROFS: "read-only file system",
  EXDEV: "cross-device link not permitted",
} as const;

export type FileFaultCode = keyof typeof TEXTS;

export function fileFault(code: FileFaultCode, path: string): Error {
  return Object.assign(new Error(`${code}: ${TEXTS[code]}, '${path}'`), { code });
}

/** The same fault without the place of the machine that it happened at. */
export function hidePlace(error: unknown, path: string): Error {
  const { code = "" } = error as NodeJS.ErrnoException;
  return fileFault(code in TEXTS ? (code as FileFaultCode) : "EACCES", path);
}

/** Faults of the system in memory have their code in the text alone. */
export function isMissing(error: unknown): boolean {
  return (error as Error).message.startsWith("ENOENT:");
}
