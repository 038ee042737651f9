/** The `scripted` provider: a script from a file of JSON. */
import { readBounded } from "../../host/read-bounded.ts";
import type { ModelFailure } from "../model-request.ts";
import { checkScript, type Script } from "../script.ts";
import { createScriptedModel, type ScriptedModel } from "../scripted-model.ts";

const MAX_BYTES = 4_194_304;

export function openScript(
  path: string,
): { readonly ok: true; readonly model: ScriptedModel } | ModelFailure {
  const read = readBounded(path, MAX_BYTES);
  if (!read.ok) return { ok: false, message: read.message, hint: HINT };
  const parsed = parse(read.text);
  const fault = parsed === undefined ? "It is not JSON." : checkScript(parsed);
  if (fault) return { ok: false, message: `\`${path}\` is no script. ${fault}`, hint: HINT };
  return { ok: true, model: createScriptedModel(parsed as Script, path) };
}

const HINT =
  "A scripted model's `model` is the path of a JSON file: a list of turns with `expect` and `answer`.";

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Said by the caller, with the path.
  }
}
