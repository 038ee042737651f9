/**
 * A stand-in for the package node-llama-cpp with the part of its surface that Metier uses: a folder with a `package.json` and
 * one module. What a "file" says is in the file, after the magic bytes; what was asked is kept beside the module.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** One answer; the last one is repeated. `endless` writes until it is stopped. */
type LlamaTurn =
  | { readonly text: string; readonly thought?: string }
  | { readonly call: { readonly functionName: string; readonly params: unknown } }
  | { readonly endless: string };

export interface StandIn {
  readonly folder: string;
  /** What each request was: the history, and the options that can be written as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  requests(): readonly any[];
}

export function installLlama(modules: string, version = "3.22.1"): StandIn {
  const folder = join(modules, "node-llama-cpp");
  const log = join(folder, "requests.jsonl");
  mkdirSync(folder, { recursive: true });
  const exported = { ".": { import: "./index.js", types: "./index.d.ts" } };
  const manifest = { name: "node-llama-cpp", version, type: "module", exports: exported };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(folder, "index.js"), `const LOG = ${JSON.stringify(log)};\n${MODULE}`);
  const requests = (): readonly object[] =>
    existsSync(log)
      ? readFileSync(log, "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as object)
      : [];
  return { folder, requests };
}

/** `broken`: the package cannot load it. */
export function writeGgufTurns(file: string, turns: readonly LlamaTurn[] | "broken"): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `GGUF${JSON.stringify(turns)}`);
  return file;
}

const MODULE = `
import { appendFileSync, readFileSync } from "node:fs";

export async function getLlama({ build, skipDownload, logger }) {
  if (build !== "never" || !skipDownload) throw new Error("would compile or download");
  return {
    async loadModel({ modelPath }) {
      const turns = JSON.parse(readFileSync(modelPath, "utf8").slice(4));
      if (turns === "broken") {
        logger("error", "llama_model_load: tensor 'output' has the wrong shape");
        throw new Error("Failed to load model");
      }
      const model = { turns, trainContextSize: 16384, tokenizer: { name: "tokenizer" }, async dispose() {} };
      model.createContext = async ({ contextSize }) => ({
        contextSize: contextSize.max,
        getSequence: () => ({ model, meter: { usedInputTokens: 0, usedOutputTokens: 0 }, get tokenMeter() {
          return { getState: () => ({ ...this.meter }) };
        } }),
      });
      return model;
    },
    createGrammarForJsonSchema: async (schema) => ({ schema }),
    getGrammarFor: async (type) => ({ type }),
  };
}

export class LlamaChat {
  constructor({ contextSequence }) {
    this.sequence = contextSequence;
    this.asked = 0;
    this.isBusy = false;
  }
  chatWrapper = {
    generateContextState: ({ chatHistory, availableFunctions }) => ({
      contextText: { tokenize: () => [...JSON.stringify([chatHistory, availableFunctions])].map(() => 0) },
    }),
  };
  async generateResponse(history, { signal, maxTokens, onResponseChunk, ...options }) {
    if (this.isBusy) throw new Error("asked twice at once");
    this.isBusy = true;
    try {
      appendFileSync(LOG, JSON.stringify({ history, maxTokens, ...options }) + "\\n");
      const { turns } = this.sequence.model;
      const turn = turns[Math.min(this.asked, turns.length - 1)];
      this.asked += 1;
      this.sequence.meter.usedInputTokens += 10;
      if (turn.call) return { functionCalls: [turn.call], metadata: { stopReason: "functionCalls" } };
      if (turn.thought) onResponseChunk({ type: "segment", segmentType: "thought", text: turn.thought });
      const pieces = turn.text?.match(/\\S+\\s*/g) ?? [];
      for (let index = 0; turn.endless || index < pieces.length; index += 1) {
        if (index === maxTokens) return { metadata: { stopReason: "maxTokens" } };
        await new Promise((resolve) => setTimeout(resolve, 1));
        signal?.throwIfAborted();
        this.sequence.meter.usedOutputTokens += 1;
        onResponseChunk({ type: undefined, segmentType: undefined, text: turn.endless ?? pieces[index] });
      }
      return { metadata: { stopReason: "eogToken" } };
    } finally {
      this.isBusy = false;
    }
  }
}
`;
