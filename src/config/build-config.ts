/** The merged values as the `Config` the rest of Metier reads: nested, camelCase, frozen. */
import { toCamelCase } from "../foundation/spelling.ts";
import type { Config, ValueOrigin } from "./config.ts";
import { CONFIG_FIELDS, type ConfigField } from "./config-fields.ts";
import { formatKeyPath } from "./key-path.ts";
import type { ConfigValue, ConfigValues } from "./merge-layers.ts";
import type { Assignment } from "./read-assignments.ts";
import { redactValue } from "./redact.ts";
import { ALLOW_LISTS } from "./value-types.ts";

/** A table without a prototype: a skill may be called `constructor`. */
type Table = { [key: string]: unknown };

export function buildConfig(values: ConfigValues, policy: readonly Assignment[]): Config {
  const config = table({
    skills: table({ settings: skillTables(values) }),
    models: table(),
    capabilities: table({ providers: table() }),
    mcp: table({ servers: table() }),
    tools: table(),
    policyTools: table(),
    sandbox: table(),
    scan: table(),
    environments: table(),
    runs: table(),
    policyRuns: table(),
  });
  for (const value of values.values()) {
    if (value.field.type === ALLOW_LISTS) setAllowLists(config, value.value as readonly unknown[]);
    else setDeep(config, propertyPath(value), value.value);
  }
  for (const assignment of policy) {
    const { field, segments, value } = assignment;
    if (!field.tightening?.canTighten(value)) continue;
    const [group] = segments;
    if (group === "tools") setDeep(config, ["policyTools", ...segments.slice(1)], value);
    if (group === "runs") setDeep(config, ["policyRuns", ...propertyPath(assignment).slice(1)], value);
    if (field.path === "skills.script-timeout-ms") setDeep(config, ["policyScriptTimeoutMs"], value);
  }
  return freezeDeep(config) as unknown as Config;
}

/** A table for each skill that is named, with an environment even where no variable is. */
function skillTables(values: ConfigValues): Table {
  const named = [...values.values()].filter(({ field }) => field.path.startsWith("skills.<skill>."));
  return table(Object.fromEntries(named.map(({ segments }) => [segments[1], table({ env: table() })])));
}

/** The first list is the user's own; what tightened it are further ones. */
function setAllowLists(config: Table, [own = [], ...further]: readonly unknown[]): void {
  setDeep(config, ["skills", "allow"], own);
  setDeep(config, ["skills", "allowWithin"], further);
}

/** `skills.mail.MAIL_TOKEN` → `skills`, `settings`, `mail`, `env`, `MAIL_TOKEN`. */
function propertyPath({ field, segments }: Pick<ConfigValue, "field" | "segments">): readonly string[] {
  const template = field.path.split(".");
  return segments.flatMap((segment, index) => {
    const part = template[index] ?? "";
    if (part === "<VARIABLE>") return template[index - 1] === "env" ? [segment] : ["env", segment];
    if (part === "<skill>") return ["settings", segment];
    return [part.startsWith("<") ? segment : toCamelCase(segment)];
  });
}

/** Redacted, in the order of the table, then by name. */
export function traceOrigins(values: ConfigValues): ReadonlyMap<string, ValueOrigin> {
  const rank = new Map(CONFIG_FIELDS.map(({ path }, index) => [path, index]));
  const sorted = [...values.values()].sort(
    (a, b) =>
      (rank.get(a.field.path) ?? 0) - (rank.get(b.field.path) ?? 0) ||
      (formatKeyPath(a.segments) < formatKeyPath(b.segments) ? -1 : 1),
  );
  return new Map(
    sorted.map(({ field, segments, value, origin, tightens, overridden }) => [
      formatKeyPath(segments),
      {
        ...origin,
        value: shownValue(field, value),
        tightens,
        overridden: overridden.map((lower) => ({ ...lower, value: shownValue(field, lower.value) })),
      },
    ]),
  );
}

/** A single allow list is shown as the list that was written. */
function shownValue(field: ConfigField, value: unknown): unknown {
  const isSingle = field.type === ALLOW_LISTS && Array.isArray(value) && value.length === 1;
  return redactValue(field, isSingle ? value[0] : value);
}

function table(entries: Table = {}): Table {
  return Object.assign(Object.create(null), entries);
}

function setDeep(root: Table, path: readonly string[], value: unknown): void {
  let target = root;
  for (const segment of path.slice(0, -1)) {
    target[segment] ??= table();
    target = target[segment] as Table;
  }
  target[path.at(-1) ?? ""] = value;
}

function freezeDeep<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const item of Object.values(value)) freezeDeep(item);
  return Object.freeze(value);
}
