/**
 * All layers of configuration merged into one `Config` in which each value knows its origin. Lowest first:
 * defaults < preset < user file < project file < environment < options < policy, which only tightens.
 */
import type { Places } from "../host/places.ts";
import { buildConfig, traceOrigins } from "./build-config.ts";
import type { LayerReport, LoadedConfig, PresetName } from "./config.ts";
import { applyLayer, applyPolicy, applyProject, type ConfigValues, defaultValues } from "./merge-layers.ts";
import { presetLayout } from "./presets.ts";
import { type Assignment, type LayerReading, readAssignments } from "./read-assignments.ts";
import { type Environment, readEnvironment } from "./read-environment.ts";
import {
  type ProjectLayer,
  readPolicyLayer,
  readPresetLayers,
  readProjectLayer,
  readUserLayer,
} from "./read-layers.ts";

const POLICY_FILE = "/etc/metier/policy.toml";
const PREFIX = "METIER_";

/** A flag of the command line or an option of the library, in the shape of a config file. */
export interface ConfigOverride {
  /** What set it, for messages: `--path`. */
  readonly where: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** Adds to lists instead of replacing them. */
  readonly append?: boolean;
}

export interface LoadConfigOptions {
  readonly cwd: string;
  readonly places: Places;
  readonly environment: Environment;
  /** Later ones win. */
  readonly overrides?: readonly ConfigOverride[];
  /** Named by the user: it is read in place of the project's file and counts as granted. */
  readonly configFile?: string;
  readonly preset?: PresetName;
  /** Whether the user has granted this project file, bound to its content. Without it nothing is granted. */
  projectGrant?(file: string, sha256: string): boolean;
  /** For tests only: neither the environment nor a flag may choose the policy. */
  readonly policyFile?: string;
}

interface ReadOverride extends LayerReading {
  readonly append: boolean;
}

/** Throws `ConfigError` for a `configFile` that cannot be used and for a policy that cannot be read. */
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
  const preset = choosePreset([
    user,
    ...(project.file?.granted ? [project] : []),
    ownVariables,
    ...overrides,
  ]);
  const presetLayers = preset === undefined ? [] : await readPresetLayers(preset, home);
  const { environmentPrefix } = presetLayout(preset);
  const variables = environmentPrefix
    ? readEnvironment(environment, [environmentPrefix, PREFIX], context)
    : ownVariables;

  const values = defaultValues();
  for (const layer of [...presetLayers, user]) applyLayer(values, layer.assignments);
  const granted = project.file?.granted ?? false;
  const refusals = applyProject(values, project.assignments, granted, places.configFile);
  const projectReport = reportProject(project, values, refusals.length);
  applyLayer(values, variables.assignments);
  for (const { assignments, append } of overrides) applyLayer(values, assignments, append);
  const policyFaults = applyPolicy(values, policy.assignments);

  return {
    config: buildConfig(values, policy.assignments),
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
      ...overrideReports(options),
      policy.report,
    ],
    diagnostics: [
      ...[...presetLayers, user, project].flatMap(({ diagnostics }) => diagnostics),
      ...refusals,
      ...[variables, ...overrides, policy].flatMap(({ diagnostics }) => diagnostics),
      ...policyFaults,
    ],
    ...(project.file && { projectFile: project.file }),
  };
}

function readOverrides({ cwd, places, overrides = [], preset }: LoadConfigOptions): readonly ReadOverride[] {
  const all = preset ? [{ where: "--preset", values: { skills: { preset } } }, ...overrides] : overrides;
  const context = { home: places.home, base: cwd };
  return all.map(({ where, values, append = false }) => ({
    ...readAssignments({ layer: "option", where, values, context }),
    append,
  }));
}

/** The preset decides which layers there are, so it is looked up before they are merged. */
function choosePreset(layers: readonly LayerReading[]): PresetName | undefined {
  const isPreset = ({ field }: Assignment): boolean => field.path === "skills.preset";
  return layers.flatMap(({ assignments }) => assignments).findLast(isPreset)?.value as PresetName | undefined;
}

function reportProject({ report }: ProjectLayer, values: ConfigValues, refused: number): LayerReport {
  if (refused === 0) return report;
  const isUsed = [...values.values()].some(({ origin }) => origin.layer === "project");
  return { ...report, status: isUsed ? "partly-ignored" : "ignored" };
}

function overrideReports({ overrides = [], preset }: LoadConfigOptions): readonly LayerReport[] {
  const labels = [...(preset ? ["--preset"] : []), ...overrides.map(({ where }) => where)];
  if (labels.length === 0) return [{ layer: "option", where: "", status: "absent" }];
  return [...new Set(labels)].map((where) => ({ layer: "option", where, status: "loaded" }));
}
