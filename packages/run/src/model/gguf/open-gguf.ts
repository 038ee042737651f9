/**
 * Opens a model from a config table or `gguf:<path or name>`: finds its file and package, and names what is missing.
 */
import { homedir } from "node:os";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { expandPath } from "@metier/base/places";
import { done, type Result, refused } from "@metier/base/result";
import { nearestNames, showNames } from "@metier/base/text";
import type { ModelConfig } from "@metier/skills/config";
import type { ModelRefusal, ModelRequest } from "../model-request.ts";
import { findGgufFiles, isGgufPath, readGguf } from "./gguf-files.ts";
import { findGgufLibrary, type GgufLibrary } from "./gguf-library.ts";

const USUAL_CONTEXT = 32_768;

type Asked = Pick<ModelRequest, "environment" | "home">;

/** Loads nothing before the model is asked. */
export async function openGguf(
  config: ModelConfig,
  where: string,
  request: Asked,
): Promise<Result<LanguageModelV4, ModelRefusal>> {
  const needed = findGgufNeeds(config, where, request);
  if (!needed.ok) return needed;
  const { path, name, library } = needed.value;
  const { createGgufModel } = await import("./gguf-model.ts");
  const { contextTokens = USUAL_CONTEXT } = config;
  return done(createGgufModel({ library, path, contextTokens }, name));
}

interface GgufNeeds {
  readonly path: string;
  readonly name: string;
  readonly library: GgufLibrary;
}

/** The file and the package, or which of them is missing. */
export function findGgufNeeds(
  config: ModelConfig,
  where: string,
  request: Asked,
): Result<GgufNeeds, ModelRefusal> {
  const file = findFile(config, where, request);
  if (!file.ok) return file;
  const library = findGgufLibrary(config.package);
  return library.ok ? done({ ...file.value, library: library.value }) : library;
}

function findFile(
  { path, model }: ModelConfig,
  where: string,
  { environment, home = homedir() }: Asked,
): Result<{ readonly path: string; readonly name: string }, ModelRefusal> {
  if (path !== undefined) {
    // The call's own path is already absolute.
    const absolute = expandPath(path, home, "/");
    const file = /^[~/]|^[a-z]:/i.test(path) ? readGguf(absolute) : undefined;
    if (file) return done({ path: absolute, name: model ?? file.name });
    return refused({
      message: `\`${path}\` is not the absolute path of a readable GGUF file.`,
      hint: `Correct \`${where}.path\`, or the path after \`gguf:\`. \`metier init\` lists the files it finds.`,
    });
  }
  if (model === undefined || isGgufPath(model)) {
    return refused({
      message: `\`[${where}]\` does not name a GGUF file.`,
      hint: "Set `path` to the file in your config.",
    });
  }
  const files = findGgufFiles({ environment, home });
  const found = files.find(({ name }) => name.toLowerCase() === model.toLowerCase());
  if (found) return done(found);
  const names = files.map(({ name }) => name);
  const near = nearestNames(model, names);
  return refused({
    message: `No GGUF file called \`${model}\` is in the usual folders.`,
    hint:
      near.length > 0 ? `Did you mean ${showNames(near)}?` : "Write its path: `gguf:/path/to/model.gguf`.",
  });
}
