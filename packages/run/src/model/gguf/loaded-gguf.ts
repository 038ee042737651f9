/**
 * A GGUF file in memory: loaded by the first request, shared by all runs of this process, used by one at a time, and
 * released after a while without requests. Loading can take minutes and most of the memory.
 */
import { realPathOr } from "@metier/base/places";
import { cleanLine } from "@metier/base/text";
import {
  type GgufLibrary,
  type Llama,
  type LlamaChat,
  type LlamaContext,
  type LlamaModel,
  type LlamaSequence,
  loadGgufLibrary,
} from "./gguf-library.ts";

export interface GgufStart {
  readonly library: GgufLibrary;
  readonly path: string;
  /** The largest context; never more than the model has. */
  readonly contextTokens: number;
}

export interface LoadedGguf {
  readonly llama: Llama;
  readonly model: LlamaModel;
  readonly context: LlamaContext;
  readonly sequence: LlamaSequence;
  readonly chat: LlamaChat;
}

const IDLE_MS = 5 * 60_000;

interface Kept {
  readonly loaded: Promise<LoadedGguf>;
  /** Resolves when the latest request is done. */
  last: Promise<unknown>;
  users: number;
  idle?: NodeJS.Timeout;
}

const kept = new Map<string, Kept>();
/** One per copy of the package: it holds the graphics card. */
const engines = new Map<string, Promise<{ readonly llama: Llama; readonly said: string[] }>>();

/** Waits for earlier requests. Throws any error from loading or `use`. */
export async function useGguf<Answer>(
  start: GgufStart,
  signal: AbortSignal | undefined,
  use: (loaded: LoadedGguf) => Promise<Answer>,
): Promise<Answer> {
  const key = JSON.stringify([start.library.entry, realPathOr(start.path), start.contextTokens]);
  const entry = kept.get(key) ?? keep(key, start);
  entry.users += 1;
  clearTimeout(entry.idle);
  const turn = entry.last.then(async () => {
    signal?.throwIfAborted();
    return use(await entry.loaded);
  });
  entry.last = turn.catch(() => undefined); // Thrown to whoever asked; the next request proceeds anyway.
  try {
    return await turn;
  } finally {
    entry.users -= 1;
    // One that could not be loaded is no longer kept: there is nothing to release.
    if (entry.users === 0 && kept.get(key) === entry)
      entry.idle = setTimeout(() => void letGo(key, entry), IDLE_MS).unref();
  }
}

function keep(key: string, start: GgufStart): Kept {
  const loaded = load(start);
  const entry: Kept = { loaded, last: Promise.resolve(), users: 0 };
  loaded.catch(() => kept.delete(key)); // Retried next time: memory may be free by then.
  kept.set(key, entry);
  return entry;
}

async function letGo(key: string, entry: Kept): Promise<void> {
  if (entry.users > 0) return;
  kept.delete(key);
  const { model } = await entry.loaded;
  await model.dispose();
}

async function load({ library, path, contextTokens }: GgufStart): Promise<LoadedGguf> {
  const module = await loadGgufLibrary(library);
  const engine = engines.get(library.entry) ?? startEngine(module.getLlama);
  engines.set(library.entry, engine);
  const { llama, said } = await engine.catch((fault: unknown) => {
    engines.delete(library.entry);
    throw new Error(
      `\`node-llama-cpp\` in ${library.folder} does not start on this machine: ${explain(fault)}`,
    );
  });
  said.length = 0;
  try {
    const model = await llama.loadModel({ modelPath: path });
    const most = Math.min(model.trainContextSize, contextTokens);
    const context = await model.createContext({ contextSize: { max: most } });
    const sequence = context.getSequence();
    return { llama, model, context, sequence, chat: new module.LlamaChat({ contextSequence: sequence }) };
  } catch (fault) {
    const why = [explain(fault), ...said].join(" ");
    throw new Error(`\`node-llama-cpp\` cannot load ${path}: ${cleanLine(why).slice(0, 400)}`);
  }
}

/** Compiles and downloads nothing: only what the package includes is used. Its log is kept for error messages. */
async function startEngine(
  getLlama: Awaited<ReturnType<typeof loadGgufLibrary>>["getLlama"],
): Promise<{ readonly llama: Llama; readonly said: string[] }> {
  const said: string[] = [];
  const llama = await getLlama({
    build: "never",
    skipDownload: true,
    progressLogs: false,
    logLevel: "error",
    logger: (_level, message) => {
      if (said.length < 5) said.push(message.trim());
    },
  });
  return { llama, said };
}

function explain(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}
