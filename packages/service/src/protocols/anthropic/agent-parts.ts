/** Parts of an agent as Anthropic's clients write them: its model, skills and tools. */
import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import { refuseShape, type Shape } from "@metier/base/shape";
import { listIn } from "../foreign-shapes.ts";

/** Their names for tools, and Metier's. */
const TOOLS: Readonly<Record<string, string>> = {
  bash: "bash",
  edit: "edit_file",
  read: "read_file",
  write: "write_file",
  glob: "list_files",
  grep: "grep_search",
  web_fetch: "web_fetch",
  web_search: "web_search",
};

const TOOLSET = "agent_toolset_20260401";
const POLICY = { type: "always_ask" };

/** A model of Metier's config; `default`: the one that the config says. */
export const modelShape: Shape<string> = (value, place) => {
  const { id, ...rest } = isJsonObject(value) ? value : { id: value };
  const isPlain = Object.values(rest).every((item) => item === null || item === undefined);
  return typeof id === "string" && id !== "" && id.length <= 200 && isPlain
    ? id
    : refuseShape(value, place, "a model of Metier's config, or `default`, without effort, speed or place");
};

/** The name of a skill of Metier, always in the version that Metier gives new runs. */
export const skillShape: Shape<string> = (value, place) => {
  const { type, skill_id: id, version = "latest" } = isJsonObject(value) ? value : {};
  return type === "custom" && typeof id === "string" && (version === null || version === "latest")
    ? id
    : refuseShape(
        value,
        place,
        "a `custom` skill with the name of a skill of Metier, in its `latest` version",
      );
};

/** What is on in a set of tools, by Metier's names. Metier asks for every call that is not read-only. */
export const toolShape: Shape<readonly string[]> = (value, place) => {
  const { type, configs = [], default_config: usual = {}, ...rest } = isJsonObject(value) ? value : {};
  const all = Array.isArray(configs) ? configs : [null];
  const known = listIn(all as Json).filter(
    ({ name }) => typeof name === "string" && Object.hasOwn(TOOLS, name),
  );
  const isKnown = type === TOOLSET && known.length === all.length && Object.keys(rest).length === 0;
  if (!isKnown) return refuseShape(value, place, `a \`${TOOLSET}\` with tools that Metier has`);
  const fallback = (isJsonObject(usual) ? usual : {}) as JsonObject;
  if ([fallback, ...known].some((config) => !isAsking(config.permission_policy)))
    return refuseShape(
      value,
      place,
      "a set of tools with the permission policy `always_ask`, or without one",
    );
  const isOn = (config: JsonObject | undefined): boolean =>
    (config?.enabled ?? fallback.enabled ?? true) !== false;
  return Object.entries(TOOLS).flatMap(([theirs, ours]) =>
    isOn(known.find(({ name }) => name === theirs)) ? [ours] : [],
  );
};

function isAsking(policy: Json | undefined): boolean {
  return policy === undefined || policy === null || (isJsonObject(policy) && policy.type === POLICY.type);
}

/** `allowed`: of the definition; absent: all. */
export function showTools(allowed: Json | undefined): readonly JsonObject[] {
  const isOn = (tool: string): boolean => !Array.isArray(allowed) || allowed.includes(tool);
  const configs = Object.entries(TOOLS).map(([name, ours]) => {
    return { type: name, name, enabled: isOn(ours), permission_policy: POLICY };
  });
  if (configs.every(({ enabled }) => !enabled)) return [];
  return [{ type: TOOLSET, configs, default_config: { enabled: false, permission_policy: POLICY } }];
}
