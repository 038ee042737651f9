/**
 * What a run's answer must match: the request's `output`, or the skill's `output-schema`. The JSON is found in the
 * answer, redacted and checked; one that doesn't match is requested once more.
 */
import { checkJson, findJson, type JsonSchema } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import type { Skill } from "@metier/skills";
import { type GivenSchema, type ReadSchema, readSchema } from "../tools/given-schema.ts";
import type { LiveRun } from "./live-run.ts";
import type { LoopOutcome } from "./loop.ts";
import type { StartFault } from "./run-result.ts";

export interface OutputContract {
  /** What the model is shown. */
  readonly schema: JsonSchema;
  read: ReadSchema["read"];
}

/** An answer that matches. */
export interface HeldOutput {
  /** As the schema returns it: with defaults and transforms. */
  readonly object: unknown;
  /** The JSON as the model wrote it, without anything around it. */
  readonly text: string;
}

/** An answer that doesn't match, even after a second request. */
export class OutputFault extends Error {
  readonly code = "output.invalid";
}

/** Throws `UsageError` for an invalid schema. */
export function checkOutputSchema(given: GivenSchema | undefined): void {
  if (given !== undefined) readSchema(given, "`output`");
}

/** `undefined`: any text is allowed. An unusable schema stops the skill's run before it starts. */
export async function decideOutput(
  { name, location, manifest }: Skill,
  asked: GivenSchema | undefined,
): Promise<Result<OutputContract | undefined, StartFault>> {
  if (asked !== undefined) {
    const { json, read } = readSchema(asked, "`output`");
    return done({ schema: json, read });
  }
  const { outputSchema: schema } = manifest;
  if (schema === undefined) return done(undefined);
  const tried = await checkJson(schema, null);
  if (!tried.ok && tried.isSchemaFault) {
    return refused({
      code: "output.schema",
      message: `\`output-schema\` of the skill \`${name}\`: ${tried.message}.`,
      hint: `Correct it in \`${location || name}\`.`,
    });
  }
  return done({
    schema,
    async read(value) {
      const checked = await checkJson(schema, value);
      return checked.ok ? done(checked.value) : refused(checked.message);
    },
  });
}

/** How often an answer that doesn't match is requested again. */
const MOST_REPAIRS = 1;

type Checked =
  | { readonly goesOn: false; readonly outcome: LoopOutcome; readonly held?: HeldOutput | undefined }
  /** The model is told what is wrong. */
  | { readonly goesOn: true; readonly outcome: LoopOutcome };

/** For a run that has answered. `repaired`: how often it was sent back to work for this. */
export async function holdOutput(live: LiveRun, outcome: LoopOutcome, repaired: number): Promise<Checked> {
  const { output, limits } = live.context;
  if (output === undefined || outcome.ended !== "answered") return { goesOn: false, outcome };
  const held = await readOutput(live, output);
  if (held.ok) return { goesOn: false, outcome, held: held.value };
  const left = limits.maxIterations - outcome.iterations;
  if (repaired >= MOST_REPAIRS || left <= 0) {
    const when = repaired > 0 ? ", even when asked again" : ", and no steps are left to ask again";
    const error = new OutputFault(`The answer does not match the output schema${when}: ${held.refusal}`);
    return { goesOn: false, outcome: { ...outcome, ended: "failed", error } };
  }
  const content = [
    `Your answer does not match the output schema: ${held.refusal}.`,
    "Answer again with the corrected JSON value alone, without text around it and without a code fence.",
  ].join("\n");
  return {
    goesOn: true,
    outcome: { ...outcome, messages: [...outcome.messages, { role: "user", content }] },
  };
}

async function readOutput(
  { context: { redactor }, text: { value: text } }: LiveRun,
  { read }: OutputContract,
): Promise<Result<HeldOutput, string>> {
  const found = findJson(text);
  // A schema may want a string, which a model may write without quotes.
  const value = found.ok ? found.value : text.trim();
  try {
    // JSON can spell a secret in a way that the gate for texts doesn't recognize.
    const safe = redactor.redactJson(value);
    const checked = await read(safe);
    if (checked.ok) return done({ object: checked.value, text: JSON.stringify(safe) });
    return found.ok ? checked : refused(found.refusal);
  } catch (error) {
    return refused(`it cannot be checked: ${error instanceof Error ? error.message : String(error)}`);
  }
}
