/**
 * The file system of the interpreted shell: the world's folders on disk, and around them a small system in memory
 * (`/bin`, `/dev`, `/proc`). Each operation happens in one of the two, or between them; `shell-places.ts` decides.
 */
import { statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isInside } from "@metier/base/places";
import type { FileContent, IFileSystem, InMemoryFs } from "just-bash/browser";
import { accessTo, type World } from "../world/world.ts";
import { createShellPlaces, type ShellPlaces } from "./shell-places.ts";
import { fileFault, isMissing, type WorldDisk } from "./world-disk.ts";

/** What the interpreter itself writes to. */
const OUTPUTS = new Set(["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/full"]);
const READ_ONLY = " (read-only for this run)";
const OWNER_WRITE_BIT = 0o200;

interface ShellFileSystem extends IFileSystem {
  /** What to say about a file that cannot be created or changed, after its name. */
  whyNotWritable(path: string): Promise<string | undefined>;
}

interface Layers {
  readonly disk: WorldDisk;
  readonly memory: InMemoryFs;
  readonly places: ShellPlaces;
}

type Reads = Pick<
  Required<IFileSystem>,
  | "readFileBuffer"
  | "readFile"
  | "stat"
  | "lstat"
  | "exists"
  | "readdir"
  | "readdirWithFileTypes"
  | "realpath"
  | "readlink"
>;
type Writes = Pick<IFileSystem, "writeFile" | "appendFile" | "mkdir" | "rm" | "symlink" | "chmod" | "utimes">;
type Moves = Pick<IFileSystem, "cp" | "mv" | "link">;

export function createShellFileSystem(world: World, disk: WorldDisk, memory: InMemoryFs): ShellFileSystem {
  for (const root of world.readable) makeMountPoint(memory, root);
  const places = createShellPlaces(world, disk, memory);
  const layers = { disk, memory, places };
  const reads = createReads(layers);
  const writes = createWrites(layers, reads);
  return {
    resolvePath: (base, path) => resolve(base, path),
    /** Used only for guesses; a world is too large to list. */
    getAllPaths: () => [],
    ...reads,
    ...writes,
    ...createMoves(layers, reads, writes),
    async whyNotWritable(path) {
      const target = await places.locate(path, "follow");
      const folder = await places.lookAt(dirname(target)).catch(() => undefined); // Then it does not exist, which is all that counts.
      if (folder?.isDirectory !== true) return "";
      if (places.isOnDisk(target)) return accessTo(world, target) === "write" ? undefined : READ_ONLY;
      return OUTPUTS.has(target) || places.isTemporary(target) ? undefined : READ_ONLY;
    },
  };
}

function makeMountPoint(memory: InMemoryFs, root: string): void {
  const isFolder = statSync(root, { throwIfNoEntry: false })?.isDirectory() ?? true;
  memory.mkdirSync(isFolder ? root : dirname(root), { recursive: true });
  if (!isFolder) memory.writeFileSync(root, "");
}

function createReads({ disk, memory, places }: Layers): Reads {
  const { isOnDisk, lookAt, linkAt, locate } = places;
  const readBytes = async (path: string): Promise<Uint8Array> => {
    const file = await locate(path, "follow");
    return isOnDisk(file) ? disk.read(file) : memory.readFileBuffer(file);
  };
  const stat: Reads["stat"] = async (path) => lookAt(await locate(path, "follow"));
  const list: Reads["readdirWithFileTypes"] = async (path) => {
    const folder = await locate(path, "follow");
    if (!isOnDisk(folder)) return memory.readdirWithFileTypes(folder);
    const found = disk.list(folder).map(({ name, kind }) => ({
      name,
      isFile: kind === "file",
      isDirectory: kind === "folder",
      isSymbolicLink: kind === "link",
    }));
    const names = new Set(found.map(({ name }) => name));
    const mounted = await memory.readdirWithFileTypes(folder).catch((): typeof found => []); // Nothing is mounted there.
    return [...found, ...mounted.filter(({ name }) => !names.has(name))];
  };
  return {
    readFileBuffer: readBytes,
    readFile: async (path, options) => Buffer.from(await readBytes(path)).toString(encodingOf(options)),
    stat,
    lstat: async (path) => lookAt(await locate(path, "keep")),
    exists: (path) =>
      stat(path).then(
        () => true,
        () => false, // Also if that is unknown: the shell cannot use it either.
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
  };
}

interface Change {
  onDisk(target: string): void;
  inMemory(target: string): Promise<void>;
}

function createWrites(layers: Layers, { readdir }: Reads): Writes {
  const { disk, memory, places } = layers;
  const { isOnDisk, lookAt, locate, checkTemporary, checkFolder } = places;
  const write = async (path: string, content: Uint8Array, how: "replace" | "append"): Promise<void> => {
    const target = await locate(path, "follow");
    if (target === "/dev/null") return;
    await checkFolder(dirname(target));
    if (isOnDisk(target)) return disk.write(target, content, how);
    checkTemporary(target);
    await (how === "append" ? memory.appendFile(target, content) : memory.writeFile(target, content));
  };
  const mkdir: Writes["mkdir"] = async (path, { recursive = false } = {}) => {
    const folder = await locate(path, "follow");
    const found = await lookAt(folder).catch(() => undefined); // Then creating it reports what is wrong.
    if (found && !(recursive && found.isDirectory)) throw fileFault("EEXIST", path);
    if (found) return;
    if (recursive) await mkdir(dirname(folder), { recursive });
    await checkFolder(dirname(folder));
    if (isOnDisk(folder)) return disk.makeFolder(folder);
    checkTemporary(folder);
    await memory.mkdir(folder);
  };
  const removeOne = async (path: string): Promise<void> => {
    if (isOnDisk(path)) return disk.remove(path);
    checkTemporary(path);
    await memory.rm(path);
  };
  const rm: Writes["rm"] = async (path, { recursive = false, force = false } = {}) => {
    const target = await locate(path, "keep");
    try {
      if (recursive && (await lookAt(target)).isDirectory) {
        for (const name of await readdir(target)) await rm(join(target, name), { recursive });
      }
      await removeOne(target);
    } catch (error) {
      if (!(force && isMissing(error))) throw error;
    }
  };
  return {
    writeFile: (path, content, options) => write(path, toBytes(content, options), "replace"),
    appendFile: (path, content, options) => write(path, toBytes(content, options), "append"),
    mkdir,
    rm,
    ...createChanges(layers),
  };
}

/** For what already exists. */
function createChanges({ disk, memory, places }: Layers): Pick<Writes, "symlink" | "chmod" | "utimes"> {
  const { isOnDisk, locate, checkTemporary } = places;
  const change = async (path: string, last: "follow" | "keep", by: Change): Promise<void> => {
    const target = await locate(path, last);
    if (isOnDisk(target)) return by.onDisk(target);
    checkTemporary(target);
    await by.inMemory(target);
  };
  return {
    // Node's permission model, which also restricts this process, forbids creating links on disk.
    symlink: (target, path) =>
      change(path, "keep", {
        onDisk: () => {
          throw fileFault("EACCES", path);
        },
        inMemory: (link) => memory.symlink(target, link),
      }),
    chmod: (path, mode) =>
      change(path, "follow", {
        onDisk: (target) => disk.setMode(target, mode),
        inMemory: (target) => memory.chmod(target, mode),
      }),
    utimes: (path, accessed, changed) =>
      change(path, "follow", {
        onDisk: (target) => disk.setTimes(target, accessed, changed),
        inMemory: (target) => memory.utimes(target, accessed, changed),
      }),
  };
}

/** Operations with two ends, each on disk or in memory. */
function createMoves({ disk, memory, places }: Layers, reads: Reads, writes: Writes): Moves {
  const { isOnDisk, lookAt, locate, checkTemporary } = places;
  const cp: Moves["cp"] = async (from, to, { recursive = false } = {}) => {
    const source = await locate(from, "follow");
    const { isDirectory, mode } = await lookAt(source);
    if (!isDirectory) {
      await writes.writeFile(to, await reads.readFileBuffer(source));
      const whole = isOnDisk(source) ? disk.lookAt(source).mode : mode;
      return writes.chmod(to, whole | OWNER_WRITE_BIT);
    }
    const target = await locate(to, "follow");
    if (!recursive) throw fileFault("EISDIR", from);
    if (isInside(target, source)) throw fileFault("EINVAL", to);
    await writes.mkdir(target, { recursive: true });
    for (const name of await reads.readdir(source)) {
      await cp(join(source, name), join(target, name), { recursive });
    }
  };
  return {
    cp,
    async mv(from, to) {
      const source = await locate(from, "keep");
      const target = await locate(to, "keep");
      if (isOnDisk(source) && isOnDisk(target)) return disk.move(source, target);
      if (isOnDisk(source) || isOnDisk(target)) {
        await cp(source, target, { recursive: true });
        return writes.rm(source, { recursive: true });
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
  };
}

type Encoded = Parameters<IFileSystem["writeFile"]>[2];

function encodingOf(options: Encoded | Parameters<IFileSystem["readFile"]>[1]): BufferEncoding {
  return (typeof options === "string" ? options : options?.encoding) ?? "utf8";
}

function toBytes(content: FileContent, options: Encoded): Uint8Array {
  return typeof content === "string" ? Buffer.from(content, encodingOf(options)) : content;
}
