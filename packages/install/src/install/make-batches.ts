/**
 * How another thread is told what to make: entries one after the other, in batches. The layout is that of `make-tree.h`
 * (`packages/skills/native`), for both kinds of threads.
 */

/** A link has a target, a file has bytes, and a folder has neither. */
interface MakeEntry {
  readonly path: string;
  readonly mode?: number;
  readonly bytes?: Uint8Array;
  readonly target?: string;
}

export interface MakeBatches {
  /** Copies the bytes. */
  add(entry: MakeEntry): void;
  /** How many there are so far, with one that is not sent yet. */
  batches(): number;
  /** Sends what is left. */
  send(): void;
}

const [FOLDER, FILE, LINK] = [0, 1, 2];
const HEADER_BYTES = 16;
/** Of a character in a path, at most. */
const UTF8_BYTES = 3;
/** What goes to the thread together. A larger file goes alone. */
const BATCH_ENTRIES = 16;
const BATCH_BYTES = 256 * 1024;
const NO_BYTES = new Uint8Array();

/** Writes each batch into the same memory: `post` copies as many bytes of it as it is told. */
export function packBatches(post: (memory: Uint8Array, length: number) => void): MakeBatches {
  let space = Buffer.allocUnsafeSlow(BATCH_BYTES);
  let used = 0;
  let entries = 0;
  let sent = 0;
  const send = (): void => {
    if (entries === 0) return;
    post(space, used);
    used = 0;
    entries = 0;
    sent += 1;
  };
  const makeRoom = (bytes: number): void => {
    if (used + bytes <= space.length) return;
    send();
    const room = Math.max(bytes, BATCH_BYTES);
    if (room !== space.length) space = Buffer.allocUnsafeSlow(room);
  };
  return {
    add({ path, mode = 0, bytes, target }) {
      const kind = target === undefined ? (bytes === undefined ? FOLDER : FILE) : LINK;
      const content = target === undefined ? (bytes ?? NO_BYTES) : Buffer.from(target);
      makeRoom(HEADER_BYTES + path.length * UTF8_BYTES + content.length + 2);
      const pathStart = used + HEADER_BYTES;
      const pathEnd = pathStart + space.write(path, pathStart);
      let at = used;
      for (const number of [kind, mode, pathEnd - pathStart, content.length])
        at = space.writeUInt32LE(number, at);
      space[pathEnd] = 0;
      space.set(content, pathEnd + 1);
      used = pathEnd + 1 + content.length + 1;
      space[used - 1] = 0;
      if (++entries >= BATCH_ENTRIES) send();
    },
    batches: () => sent + Math.min(entries, 1),
    send,
  };
}

/** For a thread of Node. */
export function readBatch(batch: Uint8Array): readonly MakeEntry[] {
  const memory = Buffer.from(batch.buffer, batch.byteOffset, batch.length);
  const entries: MakeEntry[] = [];
  for (let at = 0; at < memory.length; ) {
    const [kind = FOLDER, mode = 0, pathLength = 0, contentLength = 0] = [0, 4, 8, 12].map((offset) =>
      memory.readUInt32LE(at + offset),
    );
    const pathStart = at + HEADER_BYTES;
    const start = pathStart + pathLength + 1;
    const path = memory.toString("utf8", pathStart, start - 1);
    const bytes = memory.subarray(start, start + contentLength);
    entries.push(
      kind === LINK
        ? { path, target: bytes.toString() }
        : kind === FILE
          ? { path, mode, bytes }
          : { path, mode },
    );
    at = start + contentLength + 1;
  }
  return entries;
}
