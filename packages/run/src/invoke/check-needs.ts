/** The checks that ask whether a skill has what it needs here: input, tools, variables and capabilities. */

import { checkJson, type Json } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import { compileGlob, forReader, showNames, showValue } from "@metier/base/text";
import { missingVariables } from "@metier/sandbox/secrets";
import { parseToolPattern, type Skill, type SkillManifest } from "@metier/skills";
import { skillSettings } from "@metier/skills/config";
import { trustAllows } from "@metier/skills/trust";
import { readToolName } from "../tools/tool.ts";
import type { CheckSubject } from "./checks.ts";
import { joinArguments, type RefusalCause } from "./invocation.ts";

/** Is there something to do, and does the input fit the schema? */
export function checkInput({ skill, invocation, execution, input }: CheckSubject): RefusalCause | undefined {
  const { name, manifest, location } = skill;
  if (!input.ok) {
    const { message, isSchemaFault } = input.refusal;
    return {
      reason: "input",
      message: `Invalid input: ${message}.`,
      hint: isSchemaFault
        ? `Correct \`input-schema\` in \`${location || name}\`.`
        : "Send `input` as an object that fits the schema.",
      data: isSchemaFault ? {} : { schema: manifest.inputSchema as Json },
    };
  }
  // A person may start a skill without a word; a model that says nothing has forgotten its task.
  const isSilent = ![invocation.message, joinArguments(invocation.arguments ?? "")].some((text) =>
    text?.trim(),
  );
  if (execution === "inline" || invocation.source !== "model" || !isSilent || input.value !== undefined)
    return undefined;
  return {
    reason: "input",
    message: `Skill \`${name}\` runs on its own and was not told what to do: \`message\` is missing.`,
    hint: "Send `message` with the task; what it needs to know goes into `context`.",
    data: { missing: ["message"] },
  };
}

export interface InputFault {
  readonly message: string;
  readonly isSchemaFault: boolean;
}

/** A skill without a schema takes what it is given. */
export async function readInput(
  { inputSchema }: Pick<SkillManifest, "inputSchema">,
  given?: Json,
): Promise<Result<Json | undefined, InputFault>> {
  if (inputSchema === undefined) return done(given);
  const checked = await checkJson(inputSchema, given === undefined ? {} : fromText(given));
  if (checked.ok) return done(checked.value);
  const { message, isSchemaFault } = checked;
  return refused({ message, isSchemaFault });
}

/** Models often send an object as its text; any other text is left for the schema to judge. */
function fromText(given: Json): Json {
  if (typeof given !== "string" || !given.trimStart().startsWith("{")) return given;
  try {
    return JSON.parse(given) as Json;
  } catch {
    return given; // The schema says what is allowed instead.
  }
}

/** Are the tools there that the skill requires? Asked before any model is. */
export function checkTools(subject: CheckSubject): RefusalCause | undefined {
  const { skill, execution, host, trust } = subject;
  // Which tools a conversation has that is not ours, only its host knows.
  if (host.tools === undefined && execution === "inline") return undefined;
  // What its toolsets bring is known once they are loaded; the run asks again then.
  const bringsTools = execution === "isolated" && skill.manifest.toolsets.length > 0;
  if (bringsTools && trustAllows(trust.level, "load-toolsets")) return undefined;
  const { tools = [] } = host;
  return refuseMissingTools(skill, typeof tools === "function" ? tools(subject) : tools);
}

/** `tools`: all names by which tools that are there can be required. */
export function refuseMissingTools(
  skill: Pick<Skill, "name" | "manifest">,
  tools: readonly string[],
): RefusalCause | undefined {
  const available = tools.toSorted();
  const missing = skill.manifest.requiredTools.filter((pattern) => !isThere(pattern, available));
  if (missing.length === 0) return undefined;
  const quoted = missing.map((name) => `'${showValue(name).slice(1, -1)}'`).join(", ");
  const which =
    missing.length === 1
      ? `tool ${quoted} which is not available`
      : `tools ${quoted} which are not available`;
  return {
    reason: "tools",
    message: `Skill requires ${which}. Available: ${available.length > 0 ? showNames(available) : "none"}.`,
    hint: `Bring what is missing, or take it out of \`required-tools\` of \`${skill.name}\`.`,
    data: { missing, available },
  };
}

/** `Bash(git:*)` needs the tool alone; the names of other systems mean ours; `mcp__github` any tool of that server. */
function isThere(pattern: string, available: readonly string[]): boolean {
  const written = parseToolPattern(pattern)?.tool;
  if (written === undefined) return false;
  const { name, known } = readToolName(written, available);
  if (known !== "pattern") return available.includes(name);
  const matches = compileGlob(name);
  return available.some((tool) => matches(tool) || tool.startsWith(`${name}__`));
}

const SECRET_LIKE = /(?:^|_)(?:API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|AUTH)(?:_|$)/i;

/** Has every variable that the skill declares a value, and are such names allowed? Values are fetched later. */
export function checkEnvironment({
  skill,
  execution,
  loaded: { config },
  given,
}: CheckSubject): RefusalCause | undefined {
  if (execution === "inline") return undefined;
  const { name, manifest } = skill;
  const isBlocking = config.skills.secretEnv === "block";
  const blocked = isBlocking ? manifest.env.filter((variable) => SECRET_LIKE.test(variable)) : [];
  if (blocked.length > 0) {
    return {
      reason: "environment",
      message: `Skill \`${name}\` declares ${showNames(blocked)}, which look like secrets; \`skills.secret-env\` is \`block\`.`,
      hint: "Set `skills.secret-env` to `allow` in your config if skills may have such variables.",
      data: { blocked },
    };
  }
  const { names, lines } = missingVariables({ skill, settings: skillSettings(config, name), given });
  if (names.length === 0) return undefined;
  return {
    reason: "environment",
    message: `Skill \`${name}\` needs ${showNames(names)}, for which your config has no value.`,
    hint: lines.length > 0 ? `Add to your config:\n${lines.join("\n")}` : "Give the values with the call.",
    data: { missing: names, lines },
  };
}

/**
 * Can the host perform what the skill declares, for this caller? Declared means enforced: nobody to ask means no. A sign-in
 * that is missing refuses nothing, since the skill is what begins it.
 */
export async function checkCapabilities(subject: CheckSubject): Promise<RefusalCause | undefined> {
  const { skill, execution, trust, invocation, host } = subject;
  const ids = skill.manifest.capabilities;
  if (ids.length === 0 || execution === "inline") return undefined;
  const refuse = (why: string, hint: string, data: RefusalCause["data"] = {}): RefusalCause => ({
    reason: "capabilities",
    message: `Skill \`${skill.name}\` needs ${showNames(ids)}, ${why}`,
    hint,
    data: { capabilities: ids, ...data },
  });
  if (!trustAllows(trust.level, "use-capabilities")) {
    const why = trust.reason;
    return refuse(`which only a trusted skill may use. ${why}`, trust.hint, { why });
  }
  if (host.capabilities === undefined) {
    const hint = forReader({
      command: "The skill can be read (`metier show`), but not run here; one without `capabilities` can.",
      program:
        "The skill can be read, but not run here; give `capabilities.providers`, or use one without `capabilities`.",
    });
    return refuse("and nobody performs capabilities here.", hint);
  }
  if (!invocation.caller.userId?.trim()) {
    const hint = forReader({
      command: "Say who asks with `--user`.",
      program: "Say who asks with `caller: { userId }`.",
    });
    return refuse("which are performed for a user, and it is not known who asks.", hint);
  }
  const cause = await host.capabilities(ids, invocation.caller);
  return cause && { reason: "capabilities", ...cause };
}
