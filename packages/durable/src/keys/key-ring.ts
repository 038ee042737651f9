/**
 * The keys of a master key, newest first: from `METIER_MASTER_KEY`, or from a file that only its owner can read and
 * that is created on the first start. Encrypted data names its key, so that older keys still open what they encrypted.
 */
import { createHmac, randomBytes } from "node:crypto";
import { dirname } from "node:path";
import { makePrivate, makePrivateFolder, readPrivate, replaceFile } from "@metier/base/files";
import type { Environment } from "@metier/base/programs";
import { done, type Refusal, type Result, refused } from "@metier/base/result";
import { fitShape, listShape, recordShape, testedShape } from "@metier/base/shape";
import { withLock } from "@metier/base/turns";

export interface MasterKeyPlaces extends SharedKeyPlace {
  /** `<state>/master-key.json`, or its custom location. */
  readonly file: string;
}

/** For processes on several machines: they share no file. */
export interface SharedKeyPlace {
  readonly environment: Environment;
  readonly file?: string | undefined;
}

interface RingKey {
  /** Distinguishes keys and reveals nothing about them: 16 hexadecimal digits. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** Newest first, at least one. */
export type KeyRing = readonly [RingKey, ...RingKey[]];

const VARIABLE = "METIER_MASTER_KEY";
const KEY_BYTES = 32;
const HEX = /^[0-9a-f]{64}$/i;
const BASE64URL = /^[\w-]{43}=?$/;

const isKeyText = (value: unknown): value is string => typeof value === "string" && BASE64URL.test(value);
const FILE_SHAPE = recordShape<{ readonly keys: readonly string[] }>({
  keys: listShape(testedShape(isKeyText, "a key in base64url")),
});

/** Creates the file if neither it nor the variable exists. */
export function readKeyRing({ environment, file }: SharedKeyPlace): Result<KeyRing> {
  const given = readVariable(environment);
  if (!given.ok) return given;
  if (file !== undefined && given.value.length === 0) makeKeyFile(file);
  const kept = file === undefined ? done([]) : readKeyFile(file);
  if (!kept.ok) return kept;
  const [newest, ...older] = [...given.value, ...kept.value];
  if (newest) return done([newest, ...older]);
  return refused(file === undefined ? MISSING : damaged(file));
}

const MISSING: Refusal = {
  message: `\`${VARIABLE}\` is not set, but processes that share a database need the same key.`,
  hint: "Generate one with `openssl rand -hex 32`, back it up, and set it for every `metier serve` and `metier worker`.",
};

/** Adds a new key before all others, in the file. */
export function addKey(places: MasterKeyPlaces): Result<KeyRing> {
  const present = readKeyRing(places);
  if (!present.ok) return present;
  if (places.environment[VARIABLE]) {
    return refused({
      message: `The master key is set in \`${VARIABLE}\`, so change it there.`,
      hint: `Put the new key first, separated by a comma: \`${VARIABLE}=<new>,<old>\`.`,
    });
  }
  return withLock(places.file, () => {
    const kept = readKeyFile(places.file);
    if (!kept.ok) return kept;
    const ring: KeyRing = [makeKey(randomBytes(KEY_BYTES)), ...kept.value];
    replaceFile(places.file, writeKeys(ring));
    return done(ring);
  });
}

/** Never reveals the variable's content. */
function readVariable(environment: Environment): Result<readonly RingKey[]> {
  const text = environment[VARIABLE];
  if (text === undefined || text === "") return done([]);
  const parts = text.split(",").map((part) => part.trim());
  const wrong = parts.find((part) => !HEX.test(part) && !BASE64URL.test(part));
  if (wrong === undefined) return done(parts.map(parseKey));
  return refused({
    message: `\`${VARIABLE}\` is not a key: it has ${wrong.length} characters, but a key is 32 bytes as 64 hexadecimal digits or 43 base64url characters.`,
    hint: "Generate one with `openssl rand -hex 32`.",
  });
}

function parseKey(text: string): RingKey {
  return makeKey(Buffer.from(text, HEX.test(text) ? "hex" : "base64url"));
}

function makeKey(bytes: Buffer): RingKey {
  return { id: createHmac("sha256", bytes).update("metier key id").digest("hex").slice(0, 16), bytes };
}

function makeKeyFile(file: string): void {
  const folder = makePrivateFolder(dirname(file));
  const found = folder.ok ? readPrivate(file) : folder;
  // What is wrong with it is told by whoever reads it.
  if (found.ok && found.value === undefined) makePrivate(file, writeKeys([makeKey(randomBytes(KEY_BYTES))]));
}

function readKeyFile(file: string): Result<readonly RingKey[]> {
  const read = readPrivate(file);
  if (!read.ok) {
    const { message, hint } = read.refusal;
    return refused({ message: `The master key \`${file}\` cannot be used: ${message}.`, hint });
  }
  if (read.value === undefined) return done([]);
  const keys = fitShape(FILE_SHAPE, parseJson(read.value))?.keys ?? [];
  return keys.length > 0 ? done(keys.map(parseKey)) : refused(damaged(file));
}

function writeKeys(keys: readonly RingKey[]): string {
  return `${JSON.stringify({ version: 1, keys: keys.map(({ bytes }) => bytes.toString("base64url")) }, null, 2)}\n`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // What the parser says would quote the key.
  }
}

function damaged(file: string): Refusal {
  return {
    message: `The master key \`${file}\` is missing or not a list of keys.`,
    hint: "Restore it from a backup. Without it, nobody can read stored secrets and snapshots.",
  };
}
