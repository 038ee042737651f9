/** A capability by its id, as far as this caller may use it; or why not. */
import { isCapabilityId } from "../skill/capability-id.ts";
import { showValue } from "../validate/report.ts";
import type { CapabilityRegistry, RegisteredCapability } from "./broker-parts.ts";
import type { CapabilityCaller } from "./capability.ts";
import { type Answer, type CapabilityFault, done, refuse } from "./capability-fault.ts";
import { checkVisible } from "./visibility.ts";

export async function findCapability(
  registry: CapabilityRegistry,
  id: string,
  caller: CapabilityCaller,
): Promise<Answer<RegisteredCapability>> {
  if (typeof id !== "string" || !isCapabilityId(id)) {
    return refuse("capability_not_found", `${showValue(id)} is no capability; an id is \`namespace.name\`.`, {
      hint: LIST,
    });
  }
  const found = await registry.find(id);
  if (!found) return explainMissing(registry, id);
  const denied = checkVisible(found.definition, caller);
  return denied ? { ok: false, fault: denied } : done(found);
}

/** The first reason why a skill that declares these cannot be used by this caller. */
export async function checkDeclared(
  registry: CapabilityRegistry,
  ids: readonly string[],
  caller: CapabilityCaller,
): Promise<CapabilityFault | undefined> {
  const found = await Promise.all(
    ids.map((id) => findCapability(registry, id, { ...caller, declared: ids })),
  );
  const [first] = found.flatMap((answer) => (answer.ok ? [] : [answer.fault]));
  return first;
}

const LIST = "`capability list` shows those that there are.";

/** A provider that failed is another matter than one that does not exist. */
async function explainMissing(registry: CapabilityRegistry, id: string): Promise<Answer<never>> {
  const namespace = id.slice(0, id.indexOf("."));
  const providers = await registry.statuses(namespace);
  if (providers.length === 0) {
    return refuse(
      "capability_not_found",
      `There is no capability \`${id}\`: no provider has the namespace \`${namespace}\`.`,
      {
        hint: `${LIST} Providers are wired in the config: \`[capabilities.providers.${namespace}]\`.`,
      },
    );
  }
  const failed = providers.every(({ fault }) => fault !== undefined) ? providers[0] : undefined;
  if (!failed?.fault) {
    return refuse("capability_not_found", `The provider \`${namespace}\` offers no capability \`${id}\`.`, {
      hint: LIST,
    });
  }
  return refuse(
    "capability_backend_unavailable",
    `\`${id}\` cannot be used, since its provider \`${failed.name}\` failed: ${failed.fault.message}`,
    failed.fault.hint === undefined ? {} : { hint: failed.fault.hint },
  );
}
