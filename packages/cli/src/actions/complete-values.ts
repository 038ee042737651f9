/** The values that `metier __complete` offers: skill names, run ids, config keys, choices. */
import { EXIT } from "@metier/base/errors";
import { metierPlaces } from "@metier/base/places";
import { PROFILES, type Skill } from "@metier/skills";
import { CONFIG_FIELDS, PRESETS } from "@metier/skills/config";
import type { CommonFlags } from "../commands/define.ts";
import type { CliContext, CliIo } from "../context.ts";
import { homeFolder, openSilently } from "../open-metier.ts";
import { SHELLS } from "../output/completion-scripts.ts";

export type Candidate = readonly [value: string, about: string];

export type Place =
  | { readonly kind: "words"; readonly words: readonly string[]; readonly about?: string | undefined }
  /** The placeholder in a usage line, such as `<name>`; `flag` if it is an option's value. */
  | { readonly kind: "value"; readonly name: string; readonly flag: string; readonly brief: string };

/** The options typed so far, with their values. */
type Options = ReadonlyMap<string, readonly string[]>;

export async function valuesFor(place: Place, options: Options, io: CliIo): Promise<readonly Candidate[]> {
  if (place.kind === "words") return place.words.map((word) => [word, place.about ?? ""]);
  const context: CliContext = { process: io, io, code: EXIT.done };
  try {
    return await findValues(place, context, readFlags(options));
  } catch {
    return []; // A folder or config that can't be read: the command itself will report it.
  }
}

const FILES: Candidate = [":files", ""];
const FOLDERS: Candidate = [":dirs", ""];
const MOST_RUNS = 50;

async function findValues(
  { name, flag, brief }: Place & { readonly kind: "value" },
  context: CliContext,
  flags: CommonFlags,
): Promise<readonly Candidate[]> {
  if (flag === "model" || flag === "graderModel") return models(context, flags);
  if (flag === "printConfig") return plain((await import("./mcp.ts")).PRINTED_CLIENTS);
  switch (name) {
    case "skill":
    case "target":
      return [...(await skills(context, flags, brief)), ...(/folder|path/.test(brief) ? [FILES] : [])];
    case "id":
      return flag === "" ? runs(context, flags) : [];
    case "key":
      return CONFIG_FIELDS.map(({ path, description }) => [path, description]);
    case "shell":
      return plain(SHELLS);
    case "dir":
      return [FOLDERS];
    case "file":
    case "path":
    case "source":
    case "script":
      return [FILES];
    default:
      return [];
  }
}

function plain(words: readonly string[]): readonly Candidate[] {
  return words.map((word) => [word, ""]);
}

/** As the command will find them; never asks whether to trust a folder. */
async function skills(context: CliContext, flags: CommonFlags, brief: string): Promise<readonly Candidate[]> {
  const { catalog } = await openSilently(context, flags);
  const isMeant = ({ scope, status }: Skill): boolean =>
    status !== "shadowed" && (!brief.includes("installed") || scope === "installed");
  return catalog.all.filter(isMeant).map(({ name, description }) => [name, description]);
}

async function models(context: CliContext, flags: CommonFlags): Promise<readonly Candidate[]> {
  const { config } = await openSilently(context, flags, { autoDiscover: false });
  const { BUILT_IN_ALIASES } = await import("@metier/run/model");
  const configured = Object.keys(config.config.models);
  const builtIn = Object.keys(BUILT_IN_ALIASES).filter((alias) => !configured.includes(alias));
  return [
    ...configured.map((alias): Candidate => [alias, "From your config"]),
    ...builtIn.map((alias): Candidate => [alias, "Built in"]),
  ];
}

async function runs(context: CliContext, flags: CommonFlags): Promise<readonly Candidate[]> {
  const { listRuns } = await import("@metier/run/events");
  const places = metierPlaces(homeFolder(context, flags), context.io.environment);
  return listRuns(places)
    .slice(0, MOST_RUNS)
    .map(({ runId, skill, state, startedAt }) => [runId, `${skill} ${state} ${startedAt.slice(0, 16)}`]);
}

function readFlags(options: Options): CommonFlags {
  const last = (name: string): string | undefined => options.get(name)?.at(-1);
  return {
    cwd: last("cwd"),
    home: last("home"),
    config: last("config"),
    preset: PRESETS.find((preset) => preset === last("preset")),
    path: options.get("path"),
    profile: PROFILES.find((profile) => profile === last("profile")),
    json: false,
  };
}
