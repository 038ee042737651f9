/**
 * What the interpreted shell takes for its machine: the folders of the world on disk, and around them a small system in
 * memory (`/bin`, `/dev`, `/proc`) of which only `/tmp` can be written to. Resolves links, so that they lead where they
 * lead in the sandbox and never out of it.
 */
import { type Stats, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { FileContent, FsStat, IFileSystem, InMemoryFs } from "just-bash/browser";
import { isInside } from "../../host/places.ts";
import type { World } from "../world.ts";
import { accessTo, isVisible } from "../world-access.ts";
import { fileFault, isMissing } from "./file-fault.ts";
import { resolveLinks } from "./resolve-links.ts";
import type { WorldDisk } from "./world-disk.ts";

const TEMPORARY = "/tmp";
/** What the interpreter itself writes to. */
const OUTPUTS = new Set(["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/full"]);
const WRITE_BITS = 0o222;
const OWNER_WRITE_BIT = 0o200;
const EXECUTE_BITS = 0o111;

type Entries = Awaited<ReturnType<NonNullable<IFileSystem["readdirWithFileTypes"]>>>;

export interface ShellFileSystem extends IFileSystem {
  /** What to say of a file that cannot be made or changed, after its name. */
  whyNotWritable(path: string): Promise<string | undefined>;
}

export function createShellFileSystem(world: World, disk: WorldDisk, memory: InMemoryFs): ShellFileSystem {
  for (const root of world.readable) makeMountPoint(memory, root);

  const isOnDisk = (path: string): boolean => isVisible(world, path);

  const lookAt = async (path: string): Promise<FsStat> => {
    if (!isOnDisk(path)) return memory.lstat(path);
    const found = disk.lookAt(path);
    const canWrite = accessTo(world, path) === "write";
    const canExecute =
      !found.isFile() || (found.mode & EXECUTE_BITS) === 0 || isShellScript(disk.readStart(path));
    return describe(found, (canWrite ? 0 : WRITE_BITS) | (canExecute ? 0 : EXECUTE_BITS));
  };

  const linkAt = async (path: string): Promise<string | undefined> => {
    try {
      if (!(await lookAt(path)).isSymbolicLink) return undefined;
    } catch (error) {
      if (isMissing(error)) return undefined; // Whoever needs it to be there will say so.
      throw error;
    }
    return isOnDisk(path) ? disk.readLink(path) : memory.readlink(path);
  };

  const locate = (path: string, last: "follow" | "keep"): Promise<string> => {
    const wanted = resolve("/", path);
    return resolveLinks(wanted, { start: innermostRoot(world, wanted), keepLast: last === "keep", linkAt });
  };

  const isTemporary = (path: string): boolean =>
    path !== TEMPORARY && isInside(path, TEMPORARY) && !world.readable.some((root) => isInside(path, root));

  /** Refuses what would change the system in memory. */
  const checkTemporary = (path: string): void => {
    if (!isTemporary(path)) throw fileFault("EROFS", path);
    if (world.readable.some((root) => isInside(root, path))) throw fileFault("EBUSY", path);
  };

  const checkFolder = async (path: string): Promise<void> => {
    if (!(await lookAt(path)).isDirectory) throw fileFault("ENOTDIR", path);
  };

  const write = async (path: string, content: Uint8Array, how: "replace" | "append"): Promise<void> => {
    const target = await locate(path, "follow");
    if (target === "/dev/null") return;
    await checkFolder(dirname(target));
    if (isOnDisk(target)) return disk.write(target, content, how);
    checkTemporary(target);
    await (how === "append" ? memory.appendFile(target, content) : memory.writeFile(target, content));
  };

  const list = async (path: string): Promise<Entries> => {
    const folder = await locate(path, "follow");
    if (!isOnDisk(folder)) return memory.readdirWithFileTypes(folder);
    const found = disk.list(folder).map(({ name, kind }) => ({
      name,
      isFile: kind === "file",
      isDirectory: kind === "folder",
      isSymbolicLink: kind === "link",
    }));
    const names = new Set(found.map(({ name }) => name));
    const mounted = await memory.readdirWithFileTypes(folder).catch((): Entries => []); // Nothing is mounted there.
    return [...found, ...mounted.filter(({ name }) => !names.has(name))];
  };

  const makeFolder = async (path: string): Promise<void> => {
    await checkFolder(dirname(path));
    if (isOnDisk(path)) return disk.makeFolder(path);
    checkTemporary(path);
    await memory.mkdir(path);
  };

  const removeOne = async (path: string): Promise<void> => {
    if (isOnDisk(path)) return disk.remove(path);
    checkTemporary(path);
    await memory.rm(path);
  };

  const readBytes = async (path: string): Promise<Uint8Array> => {
    const file = await locate(path, "follow");
    return isOnDisk(file) ? disk.read(file) : memory.readFileBuffer(file);
  };

  const fileSystem: ShellFileSystem = {
    async whyNotWritable(path) {
      const target = await locate(path, "follow");
      const folder = await lookAt(dirname(target)).catch(() => undefined); // Then it is not there, which is all that counts.
      if (folder?.isDirectory !== true) return "";
      if (isOnDisk(target))
        return accessTo(world, target) === "write" ? undefined : " (read-only for this run)";
      return OUTPUTS.has(target) || isTemporary(target) ? undefined : " (read-only for this run)";
    },
    resolvePath: (base, path) => resolve(base, path),
    /** Used for guesses only; a world is too large to be listed. */
    getAllPaths: () => [],
    readFileBuffer: readBytes,
    readFile: async (path, options) => Buffer.from(await readBytes(path)).toString(encodingOf(options)),
    writeFile: (path, content, options) => write(path, toBytes(content, options), "replace"),
    appendFile: (path, content, options) => write(path, toBytes(content, options), "append"),
    stat: async (path) => lookAt(await locate(path, "follow")),
    lstat: async (path) => lookAt(await locate(path, "keep")),
    exists: (path) =>
      fileSystem.stat(path).then(
        () => true,
        () => false, // Also where it cannot be told: the shell cannot use it either.
      ),
    readdir: async (path) => (await list(path)).map(({ name }) => name),
    readdirWithFileTypes: list,
    async realpath(path) {
      const real = await locate(path, "follow");
      await lookAt(real);
      return real;
    },
    async readlink(path) {
      const target = await linkAt(await locate(path, "keep"));
      if (target === undefined) throw fileFault("EINVAL", path);
      return target;
    },
    async mkdir(path, { recursive = false } = {}) {
      const folder = await locate(path, "follow");
      const found = await lookAt(folder).catch(() => undefined); // Then making it says what is wrong.
      if (found && !(recursive && found.isDirectory)) throw fileFault("EEXIST", path);
      if (found) return;
      if (recursive) await fileSystem.mkdir(dirname(folder), { recursive });
      await makeFolder(folder);
    },
    async rm(path, { recursive = false, force = false } = {}) {
      const target = await locate(path, "keep");
      try {
        if (recursive && (await lookAt(target)).isDirectory) {
          for (const { name } of await list(target)) await fileSystem.rm(join(target, name), { recursive });
        }
        await removeOne(target);
      } catch (error) {
        if (!(force && isMissing(error))) throw error;
      }
    },
    async cp(from, to, { recursive = false } = {}) {
      const source = await locate(from, "follow");
      const { isDirectory, mode } = await lookAt(source);
      if (!isDirectory) {
        await fileSystem.writeFile(to, await readBytes(source));
        const whole = isOnDisk(source) ? disk.lookAt(source).mode : mode;
        return fileSystem.chmod(to, whole | OWNER_WRITE_BIT);
      }
      const target = await locate(to, "follow");
      if (!recursive) throw fileFault("EISDIR", from);
      if (isInside(target, source)) throw fileFault("EINVAL", to);
      await fileSystem.mkdir(target, { recursive: true });
      for (const { name } of await list(source)) {
        await fileSystem.cp(join(source, name), join(target, name), { recursive });
      }
    },
    async mv(from, to) {
      const source = await locate(from, "keep");
      const target = await locate(to, "keep");
      if (isOnDisk(source) && isOnDisk(target)) return disk.move(source, target);
      if (isOnDisk(source) || isOnDisk(target)) {
        await fileSystem.cp(source, target, { recursive: true });
        return fileSystem.rm(source, { recursive: true });
      }
      checkTemporary(source);
      checkTemporary(target);
      await memory.mv(source, target);
    },
    async link(from, to) {
      const source = await locate(from, "keep");
      const target = await locate(to, "keep");
      await lookAt(source);
      if (isOnDisk(source) !== isOnDisk(target)) throw fileFault("EXDEV", to);
      if (isOnDisk(source)) return disk.link(source, target);
      checkTemporary(source);
      checkTemporary(target);
      await memory.link(source, target);
    },
    async symlink(target, path) {
      const link = await locate(path, "keep");
      // Node's permission model, which holds this process as well, lets it make no links.
      if (isOnDisk(link)) throw fileFault("EACCES", path);
      checkTemporary(link);
      await memory.symlink(target, link);
    },
    async chmod(path, mode) {
      const target = await locate(path, "follow");
      if (isOnDisk(target)) return disk.setMode(target, mode);
      checkTemporary(target);
      await memory.chmod(target, mode);
    },
    async utimes(path, accessed, changed) {
      const target = await locate(path, "follow");
      if (isOnDisk(target)) return disk.setTimes(target, accessed, changed);
      checkTemporary(target);
      await memory.utimes(target, accessed, changed);
    },
  };
  return fileSystem;
}

function makeMountPoint(memory: InMemoryFs, root: string): void {
  const isFolder = statSync(root, { throwIfNoEntry: false })?.isDirectory() ?? true;
  memory.mkdirSync(isFolder ? root : dirname(root), { recursive: true });
  if (!isFolder) memory.writeFileSync(root, "");
}

/** Down to it a path has no links: the folders of a world are given by their real paths. */
function innermostRoot({ readable }: World, path: string): string {
  return readable.filter((root) => isInside(path, root)).sort((a, b) => b.length - a.length)[0] ?? "/";
}

/** The interpreter takes every executable file for a script in its own language. */
function isShellScript(start: string): boolean {
  return /^#! *(?:\S*\/env +(?:-S *)?)?\S*\b(?:ba|da|k|z)?sh\b/.test(start);
}

function describe(found: Stats, withoutMode: number): FsStat {
  return {
    isFile: found.isFile(),
    isDirectory: found.isDirectory(),
    isSymbolicLink: found.isSymbolicLink(),
    mode: found.mode & ~withoutMode,
    size: found.size,
    mtime: found.mtime,
    dev: found.dev,
    ino: found.ino,
  };
}

type Encoded = Parameters<IFileSystem["writeFile"]>[2];

function encodingOf(options: Encoded | Parameters<IFileSystem["readFile"]>[1]): BufferEncoding {
  return (typeof options === "string" ? options : options?.encoding) ?? "utf8";
}

function toBytes(content: FileContent, options: Encoded): Uint8Array {
  return typeof content === "string" ? Buffer.from(content, encodingOf(options)) : content;
}
