/**
 * Reads the objects of a pack while git still receives it. Only what is usual: at the first doubt it stops, and git, which checks
 * the whole pack, gives the rest. An id is the digest of its content, so what was read is what the id means.
 */
import { type ObjectKind, objectId } from "./git-objects.ts";
import { openUnpacker, type Unpack, UnusualPack } from "./unpack-object.ts";

export interface PackObject {
  readonly kind: ObjectKind;
  readonly id: string;
  readonly content: Buffer;
}

interface PackReader {
  /**
   * Takes what has come since, and gives away the objects that are complete now. `isLast`: nothing more comes. Throws at the
   * first doubt; call it no more then.
   */
  read(bytes: Uint8Array, isLast?: boolean): void;
  /** How many the pack says it has; 0 before it said so. */
  count(): number;
  /** One of those that were read. */
  find(kind: ObjectKind, id: string): Buffer | undefined;
}

/** More than these are left to git. */
const MAX_OBJECT_BYTES = 8 * 1024 * 1024;
/** Of contents and deltas: a short pack can have deltas that take long. */
const MAX_BYTES = 64 * 1024 * 1024;
/** What it takes to keep an object, besides its content. */
const KEPT_BYTES = 512;

const HEADER_BYTES = 12;
/** Less than this is not worth another look. */
const LEAST_WAIT_BYTES = 40;
const KINDS: readonly (ObjectKind | undefined)[] = [undefined, "commit", "tree", "blob"];
const [OFFSET_DELTA, ID_DELTA] = [6, 7];
const ID_BYTES = 20;

/** Of a repository whose ids are SHA-1. `take` gets each object once. */
export function createPackReader(
  maxObjects: number,
  take: (object: PackObject) => void,
  unpack: Unpack = openUnpacker(),
): PackReader {
  const objects = keepObjects();
  /** What is not read yet, and where in the pack it starts. */
  let pending: Buffer = Buffer.alloc(0);
  let start = 0;
  let count = 0;
  let left = 0;
  /** How much must be there before another look is worth it. */
  let needed = HEADER_BYTES;

  const skip = (length: number): void => {
    pending = pending.subarray(length);
    start += length;
    needed = 1;
  };
  /** `undefined`: it has not come completely. */
  const readObject = (): PackObject | undefined => {
    const head = readHead(pending);
    const body = head && unpack(pending.subarray(head.length), head.size, kindNumber(head));
    if (head === undefined || body === undefined) {
      // Each look at an incomplete object costs as much as it has so far.
      needed = 2 * Math.max(pending.length, LEAST_WAIT_BYTES);
      return undefined;
    }
    const object = objects.add(start, head, body);
    skip(head.length + body.length);
    left -= 1;
    return object;
  };
  return {
    read(added, isLast = false) {
      if (start > 0 && left === 0) return; // What follows the objects is for git.
      pending = Buffer.concat([pending, added]);
      if (isLast && start > 0) needed = 1;
      if (start === 0 && pending.length >= needed) {
        count = readCount(pending);
        if (count > maxObjects) throw new UnusualPack();
        left = count;
        skip(HEADER_BYTES);
      }
      while (left > 0 && pending.length >= needed) {
        const object = readObject();
        if (object === undefined) return;
        take(object);
      }
    },
    count: () => count,
    find: objects.find,
  };
}

function readCount(header: Buffer): number {
  const isPack = header.toString("latin1", 0, 4) === "PACK" && header.readUInt32BE(4) === 2;
  if (!isPack) throw new UnusualPack();
  return header.readUInt32BE(8);
}

/** What was read so far; later objects may be differences from them. */
function keepObjects(): Pick<PackReader, "find"> & {
  add(start: number, head: ObjectHead, body: Body): PackObject;
} {
  const byId = new Map<string, PackObject>();
  const byStart = new Map<number, PackObject>();
  let bytes = 0;
  return {
    add(start, head, body) {
      const base = typeof head.base === "number" ? byStart.get(start - head.base) : byId.get(head.base ?? "");
      const object = describe(head, body, base);
      bytes += object.content.length + KEPT_BYTES + (base ? body.content.length : 0);
      if (bytes > MAX_BYTES) throw new UnusualPack();
      byId.set(object.id, object);
      byStart.set(start, object);
      return object;
    },
    find(kind, id) {
      const object = byId.get(id);
      return object?.kind === kind ? object.content : undefined;
    },
  };
}

/** What follows the head, decompressed: the content or the delta. */
interface Body {
  readonly content: Buffer;
  readonly id?: string;
}

interface ObjectHead {
  readonly type: number;
  /** Of the content, or of the delta. */
  readonly size: number;
  /** How far before this object, or its id. */
  readonly base?: number | string;
  /** Of the head itself. */
  readonly length: number;
}

function readHead(bytes: Buffer): ObjectHead | undefined {
  const type = ((bytes[0] ?? 0) >> 4) & 7;
  const sized = readSize(bytes, 0, 4);
  if (sized === undefined) return undefined;
  const { value: size, next } = sized;
  if (size > MAX_OBJECT_BYTES) throw new UnusualPack();
  if (type === ID_DELTA) {
    const length = next + ID_BYTES;
    return bytes.length < length
      ? undefined
      : { type, size, base: bytes.toString("hex", next, length), length };
  }
  if (type !== OFFSET_DELTA) return { type, size, length: next };
  const base = readDistance(bytes, next);
  return base && { type, size, base: base.value, length: base.next };
}

interface ReadNumber {
  readonly value: number;
  readonly next: number;
}

/** Seven bits per byte, lowest first; the first byte may have fewer. */
function readSize(bytes: Buffer, at: number, firstBits = 7): ReadNumber | undefined {
  let value = (bytes[at] ?? 0) & (2 ** firstBits - 1);
  let unit = 2 ** firstBits;
  for (let next = at; next < bytes.length; ) {
    const isLast = ((bytes[next++] ?? 0) & 0x80) === 0;
    if (isLast) return { value, next };
    value += ((bytes[next] ?? 0) & 0x7f) * unit;
    unit *= 128;
    if (unit > Number.MAX_SAFE_INTEGER / 128) throw new UnusualPack();
  }
  return undefined;
}

/** Seven bits per byte, highest first; each further byte adds one. */
function readDistance(bytes: Buffer, at: number): ReadNumber | undefined {
  let value = -1;
  for (let next = at; next < bytes.length; ) {
    const byte = bytes[next++] ?? 0;
    value = (value + 1) * 128 + (byte & 0x7f);
    if ((byte & 0x80) === 0) return { value, next };
    if (value > Number.MAX_SAFE_INTEGER / 256) throw new UnusualPack();
  }
  return undefined;
}

/** 0 for a delta and for what is not read. */
function kindNumber({ type }: ObjectHead): number {
  return KINDS[type] === undefined ? 0 : type;
}

function describe({ type, base: asked }: ObjectHead, body: Body, base: PackObject | undefined): PackObject {
  const kind = asked === undefined ? KINDS[type] : base?.kind;
  if (kind === undefined) throw new UnusualPack();
  if (base === undefined || asked === undefined)
    return { kind, id: body.id ?? objectId(kind, body.content), content: body.content };
  const content = applyDelta(body.content, base.content);
  return { kind, id: objectId(kind, content), content };
}

/** A delta says how to copy parts of its base, and what to insert between them. */
function applyDelta(delta: Buffer, base: Buffer): Buffer {
  const from = readSize(delta, 0);
  const to = from && readSize(delta, from.next);
  if (to === undefined || from?.value !== base.length || to.value > MAX_OBJECT_BYTES) throw new UnusualPack();
  const content = Buffer.alloc(to.value);
  let written = 0;
  for (let at = to.next; at < delta.length; ) {
    const command = delta[at++] ?? 0;
    const isCopy = (command & 0x80) !== 0;
    if (isCopy) {
      const { offset, size, next } = readCopy(delta, command, at);
      if (offset + size > base.length || written + size > content.length) throw new UnusualPack();
      written += base.copy(content, written, offset, offset + size);
      at = next;
    } else {
      const end = at + command;
      if (command === 0 || end > delta.length || written + command > content.length) throw new UnusualPack();
      written += delta.copy(content, written, at, end);
      at = end;
    }
  }
  if (written !== content.length) throw new UnusualPack();
  return content;
}

const WHOLE_BLOCK = 0x10000;

/** The bits of the command say which bytes of the offset (4) and of the size (3) follow. */
function readCopy(
  delta: Buffer,
  command: number,
  at: number,
): { readonly offset: number; readonly size: number; readonly next: number } {
  let next = at;
  const readBytes = (firstBit: number, count: number): number => {
    let value = 0;
    for (let index = 0; index < count; index++) {
      if ((command & (1 << (firstBit + index))) !== 0) value += (delta[next++] ?? 0) * 256 ** index;
    }
    return value;
  };
  const offset = readBytes(0, 4);
  const size = readBytes(4, 3) || WHOLE_BLOCK;
  if (next > delta.length) throw new UnusualPack();
  return { offset, size, next };
}
