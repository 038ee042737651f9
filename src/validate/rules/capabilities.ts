/** Capability ids are namespaced. One that is not is left out; the skill is loaded without it. */
import { isCapabilityId } from "../../skill/capability-id.ts";
import { keyOf } from "../read-fields.ts";
import { showValue } from "../report.ts";
import type { Rule } from "../rule.ts";

export const capabilitiesRule: Rule = {
  codes: ["capability.not-namespaced"],
  fields: ["capabilities"],
  check({ draft, fields }, report) {
    const key = keyOf(fields.known, "capabilities");
    draft.capabilities = draft.capabilities.filter((id) => {
      if (isCapabilityId(id)) return true;
      report(
        "capability.not-namespaced",
        `\`${key}\` has ${showValue(id)}, which is not \`namespace.name\`.`,
        {
          key,
          hint: "Write the provider's namespace, a dot and the name, in lower case, such as `gog.email`.",
        },
      );
      return false;
    });
  },
};
