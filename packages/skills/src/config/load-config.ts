/**
 * Merges all config layers into one `Config` in which each value knows its origin. Lowest first: defaults < preset <
 * user file < project file < environment < options < policy, which only tightens.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import type { Places } from "@metier/base/places";
import type { Environment } from "@metier/base/programs";
import { toCamelCase } from "@metier/base/text";
import { presetLayout } from "../clients/clients.ts";
import type { Config, LayerReport, LoadedConfig, PresetName, ValueOrigin } from "./config.ts";
import type { ConfigField } from "./config-field.ts";
import { CONFIG_FIELDS, type FoundField } from "./config-fields.ts";
import { applyLayer, applyPolicy, applyProject, type ConfigValues, defaultValues } from "./merge-layers.ts";
import { type Assignment, type LayerReading, readAssignments, readEnvironment } from "./read-assignments.ts";
import {
  type ProjectLayer,
  readPolicyLayer,
  readPresetLayers,
  readProjectLayer,
  readUserLayer,
} from "./read-layers.ts";
import { formatKeyPath, redactValue } from "./show-config.ts";
import { ALLOW_LISTS } from "./value-types.ts";

const POLICY_FILE = "/etc/metier/policy.toml";
const PREFIX = "METIER_";

/** A command line flag or library option, in the shape of a config file. */
export interface ConfigOverride {
  /** What set it, for messages: `--path`. */
  readonly where: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** Adds to lists instead of replacing them. */
  readonly append?: boolean | undefined;
}

export interface LoadConfigOptions {
  readonly cwd: string;
  readonly places: Places;
  readonly environment: Environment;
  /** Later ones win. */
  readonly overrides?: readonly ConfigOverride[] | undefined;
  /** Named by the user: it replaces the project's file and counts as granted. */
  readonly configFile?: string | undefined;
  readonly preset?: PresetName | undefined;
  /** Whether the user has granted this project file with this content. Absent: nothing is granted. */
  projectGrant?(file: string, sha256: string): boolean;
  /** Only for tests: neither the environment nor a flag may choose the policy. */
  readonly policyFile?: string | undefined;
}

interface ReadOverride extends LayerReading, Pick<ConfigOverride, "where" | "append"> {}

/** Throws `ConfigError` for an unusable `configFile` and an unreadable policy. */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  const { places, environment, cwd } = options;
  const { home } = places;
  const context = { home, base: cwd };
  const [user, project, policy] = await Promise.all([
    readUserLayer(places),
    readProjectLayer(options),
    readPolicyLayer(options.policyFile ?? POLICY_FILE, home),
  ]);
  const overrides = readOverrides(options);
  const ownVariables = readEnvironment(environment, [PREFIX], context);
  const granted = project.file?.granted ?? false;
  const preset = choosePreset([user, ...(granted ? [project] : []), ownVariables, ...overrides]);
  const presetLayers = preset === undefined ? [] : await readPresetLayers(preset, home);
  const { environmentPrefix } = presetLayout(preset);
  const variables = environmentPrefix
    ? readEnvironment(environment, [environmentPrefix, PREFIX], context)
    : ownVariables;

  const values = defaultValues();
  for (const layer of [...presetLayers, user]) applyLayer(values, layer.assignments);
  const applied = applyProject(values, project.assignments, granted, places.configFile);
  const { diagnostics: refusals, ungranted } = applied;
  const projectReport = reportProject(project, values, refusals.length);
  applyLayer(values, variables.assignments);
  for (const { assignments, append } of overrides) applyLayer(values, assignments, append);
  const policyFaults = applyPolicy(values, policy.assignments);
  const diagnostics = [
    ...[...presetLayers, user, project].flatMap(({ diagnostics: found }) => found),
    ...refusals,
    ...[variables, ...overrides, policy].flatMap(({ diagnostics: found }) => found),
    ...policyFaults,
  ];

  return {
    config: buildConfig(values, policy.assignments, [
      ...describeBroken(user),
      ...diagnostics.flatMap(describeWrongLimit),
    ]),
    origins: traceOrigins(values),
    layers: [
      { layer: "default", where: "built in", status: "loaded" },
      ...presetLayers.map(({ report }) => report),
      user.report,
      projectReport,
      {
        layer: "environment",
        where: `${PREFIX}*`,
        status: variables.assignments.length > 0 ? "loaded" : "absent",
      },
      ...reportOverrides(overrides),
      policy.report,
    ],
    diagnostics,
    projectFile: project.file && (ungranted.length > 0 ? { ...project.file, ungranted } : project.file),
  };
}

/** It may contain the user's own limits: an unreadable file is not the same as one without limits. */
function describeBroken({
  report,
  diagnostics,
}: LayerReading & { readonly report: LayerReport }): readonly string[] {
  if (report.status !== "broken") return [];
  return [diagnostics[0]?.message ?? `\`${report.where}\` cannot be read.`];
}

function describeWrongLimit({ code, message, path, line }: Diagnostic): readonly string[] {
  if (code !== "config.invalid-limit") return [];
  return [`${message} It is in \`${path}\`${line === undefined ? "" : `, line ${line}`}.`];
}

function readOverrides({ cwd, places, overrides = [], preset }: LoadConfigOptions): readonly ReadOverride[] {
  const all = preset ? [{ where: "--preset", values: { skills: { preset } } }, ...overrides] : overrides;
  const context = { home: places.home, base: cwd };
  return all.map(({ where, values, append = false }) => ({
    ...readAssignments({ layer: "option", where, values, context }),
    where,
    append,
  }));
}

/** The preset decides which layers exist, so it is looked up before they are merged. */
function choosePreset(layers: readonly LayerReading[]): PresetName | undefined {
  const isPreset = ({ field }: Assignment): boolean => field.path === "skills.preset";
  return layers.flatMap(({ assignments }) => assignments).findLast(isPreset)?.value as PresetName | undefined;
}

function reportProject({ report }: ProjectLayer, values: ConfigValues, refused: number): LayerReport {
  if (refused === 0) return report;
  const isUsed = [...values.values()].some(({ origin }) => origin.layer === "project");
  return { ...report, status: isUsed ? "partly-ignored" : "ignored" };
}

function reportOverrides(overrides: readonly ReadOverride[]): readonly LayerReport[] {
  if (overrides.length === 0) return [{ layer: "option", where: "", status: "absent" }];
  const labels = new Set(overrides.map(({ where }) => where));
  return [...labels].map((where) => ({ layer: "option", where, status: "loaded" }));
}

/** A table without a prototype: a skill may be called `constructor`. */
type Table = { [key: string]: unknown };

/**
 * The merged values as the rest of Metier reads them: nested, camelCase, frozen. They are a `Config`, since `fieldsOf`
 * has compared each row with its property, and every required property has a default.
 */
function buildConfig(
  values: ConfigValues,
  policy: readonly Assignment[],
  wrongLimits: readonly string[],
): Config {
  const sections: Record<Exclude<keyof Config, "policyScriptTimeoutMs" | "wrongLimits">, Table> = {
    skills: table({ settings: skillTables(values) }),
    models: table(),
    capabilities: table({ providers: table() }),
    mcp: table({ servers: table() }),
    tools: table(),
    policyTools: table(),
    sandbox: table(),
    scan: table(),
    install: table(),
    environments: table(),
    runs: table(),
    policyRuns: table(),
  };
  const config = table(sections);
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
  if (wrongLimits.length > 0) setDeep(config, ["wrongLimits"], wrongLimits);
  return freezeDeep(config) as unknown as Config;
}

/** A table for each named skill, with an environment even without variables. */
function skillTables(values: ConfigValues): Table {
  const named = [...values.values()].filter(({ field }) => field.path.startsWith("skills.<skill>."));
  return table(Object.fromEntries(named.map(({ segments }) => [segments[1], table({ env: table() })])));
}

/** The first list is the user's own; those that tightened it follow. */
function setAllowLists(config: Table, [own = [], ...further]: readonly unknown[]): void {
  setDeep(config, ["skills", "allow"], own);
  setDeep(config, ["skills", "allowWithin"], further);
}

/** `skills.mail.MAIL_TOKEN` → `skills`, `settings`, `mail`, `env`, `MAIL_TOKEN`. */
function propertyPath({ field, segments }: FoundField): readonly string[] {
  const template = field.path.split(".");
  return segments.flatMap((segment, index) => {
    const part = template[index] ?? "";
    if (part === "<VARIABLE>") return template[index - 1] === "env" ? [segment] : ["env", segment];
    if (part === "<skill>") return ["settings", segment];
    return [part.startsWith("<") ? segment : toCamelCase(segment)];
  });
}

/** Redacted, in table order, then by name. */
function traceOrigins(values: ConfigValues): ReadonlyMap<string, ValueOrigin> {
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

/** A single allow list is shown as written. */
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
