/**
 * `node-llama-cpp`, which reads GGUF files. It is an optional peer: Metier neither ships nor installs it, and loads it
 * from only two places: the `node_modules` folder that Metier is in, and the folder that the user's own config names.
 * So a project that Metier isn't installed in can't inject code under that name.
 */
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { pathToFileURL } from "node:url";
import { LEAVE_OUT_OF_BUNDLE, ownFile, packageFolder } from "@metier/base/files";
import { isInside } from "@metier/base/places";
import { done, type Result, refused } from "@metier/base/result";
import { fitShape, jsonShape, recordShape, textShape } from "@metier/base/shape";
import type { ModelRefusal } from "../model-request.ts";

const PACKAGE = "node-llama-cpp";
/** The tested major version, whose types are below. */
const MAJOR = "3";

export const INSTALL_ADVICE =
  "Install it next to Metier: `npm install -g node-llama-cpp` for a global Metier, `npm install node-llama-cpp` in a project.";

export interface GgufLibrary {
  readonly folder: string;
  readonly version: string;
  /** The file to import. */
  readonly entry: string;
}

/** `own`: a file of Metier. */
export function findGgufLibrary(
  given: string | undefined,
  own: string | undefined = ownFile(),
): Result<GgufLibrary, ModelRefusal> {
  if (given !== undefined) {
    const library = isAbsolute(given) ? readLibrary(given) : undefined;
    if (library) return checkVersion(library);
    return refused({
      message: `\`package = "${given}"\` is not the absolute path of a folder with the package \`${PACKAGE}\`.`,
      hint: "Set it to the folder that contains its `package.json`, such as `/opt/llm/node_modules/node-llama-cpp`.",
    });
  }
  for (const folder of own === undefined ? [] : foldersBeside(own)) {
    const library = readLibrary(join(folder, PACKAGE));
    if (library) return checkVersion(library);
  }
  return refused({
    message: `GGUF files need the package \`${PACKAGE}\`, which is not installed next to Metier.`,
    hint: `${packageFolder() === undefined ? LEAVE_OUT_OF_BUNDLE : INSTALL_ADVICE} Or set \`package\` in the model's table of your config to its folder.`,
  });
}

/** The `node_modules` folders that the file is in; in a clone of Metier, its workspace's. */
function foldersBeside(own: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = dirname(own); folder !== dirname(folder); folder = dirname(folder)) {
    if (basename(folder) === "node_modules") folders.push(folder);
    else if (existsSync(join(folder, "node_modules", "@metier"))) folders.push(join(folder, "node_modules"));
  }
  return folders;
}

const MANIFEST = recordShape<{ name: string; version: string; main?: string; exports?: unknown }>(
  { name: textShape, version: textShape, main: textShape, exports: jsonShape },
  ["main", "exports"],
);

function readLibrary(folder: string): GgufLibrary | undefined {
  try {
    const manifest = fitShape(MANIFEST, JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
    if (manifest?.name !== PACKAGE) return undefined;
    const entry = join(folder, entryOf(manifest.exports) ?? manifest.main ?? "index.js");
    return isInside(entry, folder) ? { folder, version: manifest.version, entry } : undefined;
  } catch {
    return undefined; // Missing, or not a package.
  }
}

/** The part of `exports` that `import` uses. */
function entryOf(exported: unknown): string | undefined {
  const root = (exported as Readonly<Record<string, unknown>> | undefined)?.["."];
  if (typeof root === "string") return root;
  const { import: imported, node, default: usual } = (root ?? {}) as Readonly<Record<string, unknown>>;
  return [imported, node, usual].find((path) => typeof path === "string");
}

function checkVersion(library: GgufLibrary): Result<GgufLibrary, ModelRefusal> {
  if (library.version.startsWith(`${MAJOR}.`)) return done(library);
  return refused({
    message: `\`${library.folder}\` has version ${library.version.slice(0, 40)} of \`${PACKAGE}\`; Metier needs version ${MAJOR}.`,
    hint: `Install it next to Metier: \`npm install node-llama-cpp@${MAJOR}\`, with \`-g\` for a global Metier.`,
  });
}

/** Imported once per file. Throws if its native part doesn't support this machine. */
export async function loadGgufLibrary({ entry, version }: GgufLibrary): Promise<LlamaModule> {
  const loaded = (await import(
    /* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ pathToFileURL(entry).href
  )) as Partial<LlamaModule>;
  const { getLlama, LlamaChat } = loaded;
  if (typeof getLlama === "function" && typeof LlamaChat === "function") return { getLlama, LlamaChat };
  throw new Error(`Version ${version} of \`${PACKAGE}\` does not export \`getLlama\` and \`LlamaChat\`.`);
}

/* The parts of the package that are used, from its type declarations of version 3.22. */
interface LlamaModule {
  getLlama(options: {
    readonly build: "never";
    readonly skipDownload: true;
    readonly progressLogs: false;
    readonly logLevel: "error";
    logger(level: string, message: string): void;
  }): Promise<Llama>;
  readonly LlamaChat: new (options: { readonly contextSequence: LlamaSequence }) => LlamaChat;
}

export interface Llama {
  loadModel(options: { readonly modelPath: string; readonly loadSignal?: AbortSignal }): Promise<LlamaModel>;
  createGrammarForJsonSchema(schema: LlamaSchema): Promise<LlamaGrammar>;
  getGrammarFor(type: "json"): Promise<LlamaGrammar>;
}

/** Only passed back. */
type LlamaGrammar = object;

export interface LlamaModel {
  readonly trainContextSize: number;
  readonly tokenizer: object;
  createContext(options: { readonly contextSize: { readonly max: number } }): Promise<LlamaContext>;
  dispose(): Promise<void>;
}

export interface LlamaContext {
  readonly contextSize: number;
  getSequence(): LlamaSequence;
}

export interface LlamaSequence {
  readonly tokenMeter: {
    getState(): { readonly usedInputTokens: number; readonly usedOutputTokens: number };
  };
}

export interface LlamaChat {
  readonly chatWrapper: {
    generateContextState(options: {
      readonly chatHistory: readonly LlamaMessage[];
      readonly availableFunctions?: LlamaFunctions | undefined;
      readonly documentFunctionParams?: boolean | undefined;
    }): { readonly contextText: { tokenize(tokenizer: object): readonly number[] } };
  };
  generateResponse(history: readonly LlamaMessage[], options: LlamaOptions): Promise<LlamaResponse>;
}

export interface LlamaOptions {
  readonly signal?: AbortSignal | undefined;
  readonly maxTokens: number;
  readonly temperature?: number | undefined;
  readonly topK?: number | undefined;
  readonly topP?: number | undefined;
  readonly seed?: number | undefined;
  readonly customStopTriggers?: readonly string[] | undefined;
  readonly functions?: LlamaFunctions | undefined;
  readonly documentFunctionParams?: boolean | undefined;
  readonly grammar?: LlamaGrammar | undefined;
  onResponseChunk(chunk: {
    readonly type: "segment" | undefined;
    readonly segmentType: "thought" | "comment" | undefined;
    readonly text: string;
  }): void;
}

interface LlamaResponse {
  readonly functionCalls?: readonly { readonly functionName: string; readonly params: unknown }[];
  readonly metadata: { readonly stopReason: string };
}

export type LlamaMessage =
  | { readonly type: "system" | "user"; readonly text: string }
  | { readonly type: "model"; readonly response: readonly (string | LlamaCall)[] };

export interface LlamaCall {
  readonly type: "functionCall";
  readonly name: string;
  readonly params: unknown;
  readonly result: unknown;
  readonly startsNewChunk?: boolean;
}

export type LlamaSchema = Readonly<Record<string, unknown>>;

export type LlamaFunctions = Readonly<
  Record<string, { readonly description: string; readonly params?: LlamaSchema | undefined }>
>;
