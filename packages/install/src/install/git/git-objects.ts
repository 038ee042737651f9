/**
 * Reads git objects from one `git cat-file --batch`, asked as often as needed. Each is compared with its id, which is
 * its digest: a commit leads to what its author committed, whoever keeps the repository.
 */
import { createHash } from "node:crypto";
import type { Writable } from "node:stream";
import { showPath } from "@metier/base/files";
import type { Refused } from "@metier/base/result";
import { damaged, describeRefusal, type InstallFault, limited } from "../install-fault.ts";
import type { GitAnswer, GitRemote } from "./git-remote.ts";

/**
 * Returns the content of each, complete and in request order; the next request waits until all of these came. Throws
 * `RefusedTree` for one that is missing, of another kind, larger than `maxBytes`, or does not match its id.
 */
export type AskForObjects = (
  kind: ObjectKind,
  ids: readonly string[],
  maxBytes: number,
  take: (content: Buffer, id: string) => void,
) => Promise<void>;

export type ObjectKind = "commit" | "tree" | "blob";

/** The objects of one repository, until closed. */
export interface GitObjects {
  readonly ask: AskForObjects;
  close(): Promise<void>;
}

/** Of the repository in `folder`; also finds what is fetched later. */
export function openObjects(remote: GitRemote, folder: string): GitObjects {
  const stop = new AbortController();
  const reader = startReader(() => stop.abort());
  const ended = remote.read([`--git-dir=${folder}`, "cat-file", "--batch"], {
    onStdin: reader.begin,
    onOutput: reader.read,
    signal: stop.signal,
  });
  void ended.then(reader.end);
  return {
    ask: reader.ask,
    async close() {
      reader.close();
      await ended;
    },
  };
}

/** The same, except that a request of which `find` has everything needs no git; `open` starts it for the first other one. */
export function withFound(
  find: (kind: ObjectKind, id: string) => Buffer | undefined,
  open: () => GitObjects,
): GitObjects {
  let rest: GitObjects | undefined;
  return {
    async ask(kind, ids, maxBytes, take) {
      const found = ids.flatMap((id) => {
        const content = find(kind, id);
        return content && content.length <= maxBytes ? [{ id, content }] : [];
      });
      if (found.length < ids.length) {
        rest ??= open();
        return rest.ask(kind, ids, maxBytes, take);
      }
      for (const { id, content } of found) take(content, id);
    },
    close: async () => rest?.close(),
  };
}

/** Git exited before it returned what was requested. */
class GitEnded extends Error {
  readonly answer: GitAnswer;

  constructor(answer: GitAnswer) {
    super("Git exited early.");
    this.answer = answer;
  }
}

/** Turns what an object request threw into a value; `url` is their repository's. */
export function describeObjectFault(thrown: unknown, url: string): Refused<InstallFault> {
  if (!(thrown instanceof GitEnded)) return describeRefusal(thrown, showPath(url));
  if (!thrown.answer.ok) return thrown.answer;
  return describeRefusal(damaged("Git returned fewer objects than requested."), showPath(url));
}

interface Question {
  readonly kind: ObjectKind;
  readonly ids: readonly string[];
  readonly maxBytes: number;
  take(content: Buffer, id: string): void;
  resolve(): void;
  reject(fault: unknown): void;
}

function startReader(stop: () => void): {
  begin(stdin: Writable): void;
  read(chunk: Uint8Array): void;
  readonly ask: AskForObjects;
  close(): void;
  end(answer: GitAnswer): void;
} {
  let input: Writable | undefined;
  let question: Question | undefined;
  let next = 0;
  let ended: GitEnded | undefined;

  const settle = (act: (asked: Question) => void): void => {
    const asked = question;
    question = undefined;
    if (asked) act(asked);
  };
  const takeObject = (kind: string, content: Buffer): void => {
    const id = question?.ids[next++];
    if (question === undefined || id === undefined) return;
    if (objectId(kind, content, id.length === SHA1_LENGTH ? "sha1" : "sha256") !== id)
      throw damaged(`Its object \`${id}\` has different content.`);
    question.take(content, id);
    if (next === question.ids.length) settle((asked) => asked.resolve());
  };
  const take = createObjectReader(() => question, takeObject);
  return {
    begin(stdin) {
      input = stdin;
    },
    read(chunk) {
      if (!question) return;
      try {
        take(chunk);
      } catch (fault) {
        settle((asked) => asked.reject(fault));
        stop();
      }
    },
    ask(kind, ids, maxBytes, takeContent) {
      if (ids.length === 0) return Promise.resolve();
      if (ended || input === undefined) return Promise.reject(ended);
      next = 0;
      const answered = new Promise<void>((resolve, reject) => {
        question = { kind, ids, maxBytes, take: takeContent, resolve, reject };
      });
      input.write(`${ids.join("\n")}\n`);
      return answered;
    },
    close: () => void input?.end(),
    end(answer) {
      const fault = new GitEnded(answer);
      ended = fault;
      settle((asked) => asked.reject(fault));
    },
  };
}

export const SHA1_LENGTH = 40;

/** The digest of an object, which is its id. */
export function objectId(kind: string, content: Buffer, algorithm: "sha1" | "sha256" = "sha1"): string {
  return createHash(algorithm).update(`${kind} ${content.length}\0`).update(content).digest("hex");
}

const HEADER = /^([0-9a-f]+) (\w+) (\d+)$/;
const MAX_HEADER_BYTES = 256;

/** Parses git's output: a line with id, kind and size, the content, a line break, and so on. */
function createObjectReader(
  expected: () => Pick<Question, "kind" | "maxBytes"> | undefined,
  consume: (kind: string, content: Buffer) => void,
): (chunk: Uint8Array) => void {
  let pending: Buffer[] = [];
  let held = 0;
  /** How many bytes are needed before there is something to do. */
  let needed = 1;
  let object: { readonly kind: string; readonly size: number } | undefined;

  const readHeader = (bytes: Buffer): Buffer | undefined => {
    const end = bytes.indexOf("\n");
    if (end === -1 && bytes.length < MAX_HEADER_BYTES) return undefined;
    const line = bytes.toString("latin1", 0, end === -1 ? MAX_HEADER_BYTES : end);
    const [, , kind, digits] = HEADER.exec(line) ?? [];
    const { kind: asked, maxBytes = 0 } = expected() ?? {};
    if (kind === undefined || kind !== asked) {
      throw damaged(`A ${nameOf(asked)} is missing: git says \`${line}\`.`);
    }
    const size = Number(digits);
    if (size > maxBytes)
      throw limited(`A ${nameOf(asked)} has ${size} bytes; the limit is ${maxBytes} bytes.`);
    object = { kind, size };
    return bytes.subarray(end + 1);
  };
  const readContent = (bytes: Buffer): Buffer | undefined => {
    if (object === undefined || bytes.length <= object.size) return undefined;
    const { kind, size } = object;
    object = undefined;
    consume(kind, bytes.subarray(0, size));
    return bytes.subarray(size + 1);
  };

  return (chunk) => {
    pending.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length));
    held += chunk.length;
    if (held < needed) return;
    let bytes: Buffer = Buffer.concat(pending);
    for (;;) {
      const rest = object === undefined ? readHeader(bytes) : readContent(bytes);
      if (rest === undefined) break;
      bytes = rest;
    }
    pending = [bytes];
    held = bytes.length;
    needed = object === undefined ? held + 1 : object.size + 1;
  };
}

function nameOf(kind: ObjectKind | undefined): string {
  return kind === "tree" ? "folder" : kind === "commit" ? "commit" : "file";
}
