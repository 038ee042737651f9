/**
 * A command's output as it arrives: redacted, with its start and end kept for the reader, and all of a long one written
 * to files in the work folder, so that nothing is lost.
 */
import { closeSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createFileInWorld, type World } from "@metier/sandbox";
import type { RedactionStream } from "@metier/sandbox/secrets";

type StreamName = "stdout" | "stderr";

export interface PagedStream {
  /** At most `maxCharacters`. */
  readonly head: string;
  /** The last ones, at most 10,000. */
  readonly tail: string;
  /** Of all of it. */
  readonly characters: number;
}

export interface PagedOutput {
  readonly stdout: PagedStream;
  readonly stderr: PagedStream;
  /** Where all of it is, and what was lost, in whole sentences; empty if it isn't long. */
  readonly notes: readonly string[];
}

interface OutputPager {
  take(stream: StreamName, chunk: Uint8Array): void;
  /** After the command. */
  end(): PagedOutput;
}

export interface PagerOptions {
  readonly world: World;
  /** Names the files. */
  readonly callId: string;
  /** For both streams together: more than this is long. */
  readonly maxCharacters: number;
  readonly redactStream?: (() => RedactionStream) | undefined;
  /** The certain part of a stream, without secrets. */
  onText?(stream: StreamName, text: string): void;
}

/** Of one stream, in a file. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_TAIL = 10_000;
const EMPTY = Buffer.alloc(0);
const NAMES: readonly StreamName[] = ["stdout", "stderr"];
const NO_SECRETS: RedactionStream = { push: (text) => text, end: () => "" };

export function createOutputPager(options: PagerOptions): OutputPager {
  const { maxCharacters, redactStream = () => NO_SECRETS, onText } = options;
  const openStream = (name: StreamName) => ({
    ...{ decoder: new TextDecoder("utf-8", { ignoreBOM: true }), gate: redactStream() },
    ...{ head: "", tail: "", characters: 0, waiting: [] as string[] },
    page: createPage(name, options),
  });
  const streams = { stdout: openStream("stdout"), stderr: openStream("stderr") };
  let isLong = false;

  const add = (name: StreamName, text: string): void => {
    if (text === "") return;
    const stream = streams[name];
    stream.characters += text.length;
    stream.head += text.slice(0, maxCharacters - stream.head.length);
    stream.tail = (stream.tail + text).slice(-MAX_TAIL);
    stream.waiting.push(text);
    isLong ||= streams.stdout.characters + streams.stderr.characters > maxCharacters;
    if (isLong)
      for (const { waiting, page } of Object.values(streams)) page.write(waiting.splice(0).join(""));
    onText?.(name, text);
  };
  return {
    take(name, chunk) {
      const { decoder, gate } = streams[name];
      add(name, gate.push(decoder.decode(chunk, { stream: true })));
    },
    end() {
      for (const name of NAMES) {
        const { decoder, gate } = streams[name];
        add(name, gate.push(decoder.decode()));
        add(name, gate.end());
      }
      return { ...streams, notes: NAMES.flatMap((name) => streams[name].page.close()) };
    },
  };
}

interface Page {
  write(text: string): void;
  /** Returns notes about it. */
  close(): readonly string[];
}

/** Opened by the first text; a full disk is reported, and the command continues. */
function createPage(name: StreamName, { world, callId }: PagerOptions): Page {
  const fileName = `${callId.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, 100)}-${name}.txt`;
  let file: ReturnType<typeof createFileInWorld> | undefined;
  let kept = 0;
  let lost = 0;
  let fault: string | undefined;
  return {
    write(text) {
      if (text === "") return;
      file ??= createFileInWorld(world, join(world.workDir, "output", fileName));
      const bytes = Buffer.from(text);
      const part = file.ok && fault === undefined ? bytes.subarray(0, MAX_FILE_BYTES - kept) : EMPTY;
      lost += bytes.length - part.length;
      if (file.ok) fault ??= writeAll(file.descriptor, part);
      kept += part.length;
    },
    close() {
      if (file === undefined) return [];
      if (!file.ok) return [`The output is long, and all of ${name} could not be kept: ${file.message}`];
      closeSync(file.descriptor);
      if (fault !== undefined)
        return [`The output is long, and all of ${name} could not be written: ${fault}.`];
      return [
        `The output is long; all of ${name} is in \`${file.realPath}\`.`,
        ...(lost > 0 ? [`It ends after ${kept} bytes; ${lost} more are lost.`] : []),
      ];
    },
  };
}

/** A file system may take only a part; returns the error, if any. */
function writeAll(descriptor: number, bytes: Uint8Array): string | undefined {
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
