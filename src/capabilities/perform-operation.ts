/** Calls the provider, and holds what it answers to the schema and to what may leave a provider. */
import { checkJson } from "../validate/json-schema.ts";
import { callProvider } from "./call-provider.ts";
import type { JsonObject } from "./capability.ts";
import { type Answer, done, refuse } from "./capability-fault.ts";
import { checkOutput } from "./check-output.ts";
import type { InvokeParts, Performed, ReadyCall } from "./invoke-parts.ts";

export async function performOperation(
  parts: Pick<InvokeParts, "makeContext">,
  call: ReadyCall,
  signal?: AbortSignal,
): Promise<Answer<Performed>> {
  const answered = await askProvider(parts, call, signal);
  if (!answered.ok) return answered;
  const checked = await checkAnswer(call, answered.value);
  return checked.ok ? done({ output: checked.value, isRepeat: false }) : checked;
}

export function askProvider(
  { makeContext }: Pick<InvokeParts, "makeContext">,
  { caller, capability, operation, input, account, idempotencyKey }: ReadyCall,
  signal: AbortSignal | undefined,
): Promise<Answer<JsonObject>> {
  const { definition, provider, timeoutMs } = capability;
  const { namespace } = provider;
  return callProvider({ namespace, timeoutMs, signal }, (limit) =>
    provider.invoke(
      {
        capabilityId: definition.id,
        operation: operation.name,
        input,
        ...(account && { account }),
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      },
      makeContext(namespace, caller, limit),
    ),
  );
}

export async function checkAnswer(
  { capability, operation }: ReadyCall,
  output: JsonObject,
): Promise<Answer<JsonObject>> {
  const source = `The output of \`${operation.name}\` of \`${capability.definition.id}\``;
  const safe = checkOutput(source, output);
  if (!safe.ok || !operation.outputSchema) return safe;
  const check = await checkJson(operation.outputSchema, safe.value);
  if (check.ok) return safe;
  return refuse("capability_invalid_output", `${source} does not fit its schema: ${check.message}.`, {
    hint: "The provider is at fault: its definition promises something else.",
  });
}
