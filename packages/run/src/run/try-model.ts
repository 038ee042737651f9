/** One small call to a model, to check that it answers before a user relies on it. */
import { performance } from "node:perf_hooks";
import { done, type Result, refused } from "@metier/base/result";
import { cleanLine } from "@metier/base/text";
import { configuredSecrets, createRedactor } from "@metier/sandbox/secrets";
import type { Config } from "@metier/skills/config";
import type { ModelRefusal } from "../model/model-request.ts";
import { resolveModel } from "../model/resolve-model.ts";
import { createOwnCommand, type OwnPlace } from "./run-secrets.ts";

export interface TriedModel {
  readonly id: string;
  /** One line, without secrets. */
  readonly answer: string;
  readonly durationMs: number;
}

interface ModelTrial extends OwnPlace {
  readonly config: Config;
  readonly signal?: AbortSignal | undefined;
}

/** A local model may have to be loaded from disk first. */
const TIMEOUT_MS = 180_000;
const MOST_TOKENS = 1_000;
const MOST_SHOWN = 200;

const QUESTION = "Reply with the single word: ready";

/** Asks the default model of `config`; the refusal says why it can't be asked or what went wrong. */
export async function tryModel(trial: ModelTrial): Promise<Result<TriedModel, ModelRefusal>> {
  const { config, environment, signal } = trial;
  const place = { environment, cwd: trial.cwd, home: trial.places.home };
  const resolved = await resolveModel({ config, ...place, runCommand: createOwnCommand(trial) });
  if (!resolved.ok) return resolved;
  const { model, id, secrets } = resolved.value;
  const redactor = createRedactor([...secrets, ...configuredSecrets(config)]);
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const started = performance.now();
  try {
    const { content } = await model.doGenerate({
      prompt: [{ role: "user", content: [{ type: "text", text: QUESTION }] }],
      maxOutputTokens: MOST_TOKENS,
      abortSignal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(" ");
    const answer = cleanLine(redactor.redact(text)).trim().slice(0, MOST_SHOWN);
    return done({ id, answer, durationMs: Math.round(performance.now() - started) });
  } catch (fault) {
    const reason = timeout.aborted ? `it timed out after ${TIMEOUT_MS / 1000} s` : explain(fault);
    return refused({
      message: `${id}: ${cleanLine(redactor.redact(reason)).slice(0, 500)}`,
      hint: adviseOn(fault, id),
    });
  }
}

/** The innermost cause says it best: `connect ECONNREFUSED 127.0.0.1:11434`. */
function explain(fault: unknown, depth = 0): string {
  if (!(fault instanceof Error)) return String(fault);
  const below = fault.cause instanceof Error && depth < 4 ? explain(fault.cause, depth + 1) : "";
  const status = (fault as { readonly statusCode?: unknown }).statusCode;
  return `${typeof status === "number" ? `${status}: ` : ""}${below || fault.message}`;
}

function adviseOn(fault: unknown, id: string): string {
  if (id.startsWith("gguf/")) return "Choose another file: one that is complete and fits in memory.";
  const { statusCode } = fault as { readonly statusCode?: unknown };
  if (statusCode === 401 || statusCode === 403) return "The provider rejected the key: set a valid one.";
  if (statusCode === 404) return "The server does not know that model: choose another.";
  if (statusCode === 429) return "The provider's rate limit is reached, or the account has no credit.";
  return "Start the server or check the connection, then try again.";
}
