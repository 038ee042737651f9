/** Holds the option `capabilities` of `createMetier` to its type, down to each provider: a fault shows at once, not in a call. */
import { kindOf } from "../catalog/given-skills.ts";
import { UsageError } from "../foundation/errors.ts";
import { nearestNames } from "../foundation/nearest-names.ts";
import { isCapabilityId } from "../skill/capability-id.ts";
import { showValue } from "../validate/report.ts";

type Unchecked = Readonly<Record<string, unknown>>;

const NAMES = ["providers", "confirm"];
const REQUIRED = ["definitions", "invoke"];
const OPTIONAL = ["authBegin", "authComplete", "authPoll", "forget", "close"];

export function checkCapabilityOptions(options: object): void {
  const unknown = Object.keys(options).find((name) => !NAMES.includes(name));
  if (unknown !== undefined) {
    const [near] = nearestNames(unknown, NAMES, 1);
    throw new UsageError(`The option \`capabilities\` has no ${showValue(unknown)}.`, {
      hint: near ? `Did you mean \`${near}\`?` : "It has `providers` and `confirm`.",
    });
  }
  const { providers = [], confirm } = options as Unchecked;
  if (confirm !== undefined && typeof confirm !== "function") {
    throw new UsageError(
      `The option \`capabilities.confirm\` is ${kindOf(confirm)}; allowed is a function that is asked.`,
    );
  }
  if (!Array.isArray(providers)) {
    throw new UsageError(
      `The option \`capabilities.providers\` is ${kindOf(providers)}; allowed is a list of providers.`,
    );
  }
  const namespaces = providers.map(checkProvider);
  const twice = namespaces.find((namespace, index) => namespaces.indexOf(namespace) !== index);
  if (twice !== undefined) {
    throw new UsageError(`Two providers have the namespace \`${twice}\`.`, {
      hint: "Give one of them another: the ids of their capabilities begin with it.",
    });
  }
}

/** Its namespace. */
function checkProvider(provider: unknown): string {
  if (typeof provider !== "object" || provider === null) {
    throw new UsageError(`A provider in \`capabilities.providers\` is ${kindOf(provider)}, not an object.`, {
      hint: "It has `namespace`, `definitions` and `invoke`.",
    });
  }
  const { namespace, ...parts } = methodsOf(provider);
  if (typeof namespace !== "string" || !isCapabilityId(`${namespace}.x`)) {
    const shown = typeof namespace === "string" ? showValue(namespace) : kindOf(namespace);
    throw new UsageError(`The \`namespace\` of a provider is ${shown}.`, {
      hint: "Allowed are `a-z`, `0-9`, `_` and `-`, a letter or digit first, as in `gog`.",
    });
  }
  const wrong = [
    ...REQUIRED.filter((name) => typeof parts[name] !== "function"),
    ...OPTIONAL.filter((name) => parts[name] !== undefined && typeof parts[name] !== "function"),
  ];
  if (wrong.length > 0) {
    const [first = ""] = wrong;
    throw new UsageError(
      `\`${first}\` of the provider \`${namespace}\` is ${kindOf(parts[first])}; allowed is a function.`,
      { hint: `A provider has ${REQUIRED.map((name) => `\`${name}\``).join(" and ")}.` },
    );
  }
  return namespace;
}

/** Read by name, since those of a class are not its own. */
function methodsOf(provider: object): Unchecked {
  const parts = provider as Unchecked;
  return Object.fromEntries(["namespace", ...REQUIRED, ...OPTIONAL].map((name) => [name, parts[name]]));
}
