/** Checks whether a skill has what it needs here: input, tools, variables and capabilities. */

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

/** Is there a task, and does the input match the schema? */
export function checkInput({ skill, invocation, execution, input }: CheckSubject): RefusalCause | undefined {
  const { name, manifest, location } = skill;
  if (!input.ok) {
    const { message, isSchemaFault } = input.refusal;
    return {
      reason: "input",
      message: `Invalid input: ${message}.`,
      hint: isSchemaFault
        ? `Correct \`input-schema\` in \`${location || name}\`.`
        : "Pass `input` as an object that matches the schema.",
      data: isSchemaFault ? {} : { schema: manifest.inputSchema as Json },
    };
  }
  // A person may start a skill without a message; a model without one has forgotten its task.
  const isSilent = ![invocation.message, joinArguments(invocation.arguments ?? "")].some((text) =>
    text?.trim(),
  );
  if (execution === "inline" || invocation.source !== "model" || !isSilent || input.value !== undefined)
    return undefined;
  return {
    reason: "input",
    message: `Skill \`${name}\` runs on its own and needs a task: \`message\` is missing.`,
    hint: "Pass the task as `message` and background information as `context`.",
    data: { missing: ["message"] },
  };
}

export interface InputFault {
  readonly message: string;
  readonly isSchemaFault: boolean;
}

/** A skill without a schema takes any input. */
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

/** Models often send an object as text; any other text is left to the schema. */
function fromText(given: Json): Json {
  if (typeof given !== "string" || !given.trimStart().startsWith("{")) return given;
  try {
    return JSON.parse(given) as Json;
  } catch {
    return given; // The schema says what is allowed instead.
  }
}

/** Are the tools available that the skill requires? Checked before any model is asked. */
export function checkTools(subject: CheckSubject): RefusalCause | undefined {
  const { skill, execution, host, trust } = subject;
  // Only the host of a foreign conversation knows its tools.
  if (host.tools === undefined && execution === "inline") return undefined;
  // The tools of its toolsets are known once they are loaded; the run checks again then.
  const bringsTools = execution === "isolated" && skill.manifest.toolsets.length > 0;
  if (bringsTools && trustAllows(trust.level, "load-toolsets")) return undefined;
  const { tools = [] } = host;
  return refuseMissingTools(skill, typeof tools === "function" ? tools(subject) : tools);
}

/** `tools`: all names under which available tools can be required. */
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
    hint: `Provide what is missing, or remove it from \`required-tools\` of \`${skill.name}\`.`,
    data: { missing, available },
  };
}

/** `Bash(git:*)` only needs the tool; other systems' names map to ours; `mcp__github` is any tool of that server. */
function isThere(pattern: string, available: readonly string[]): boolean {
  const written = parseToolPattern(pattern)?.tool;
  if (written === undefined) return false;
  const { name, known } = readToolName(written, available);
  if (known !== "pattern") return available.includes(name);
  const matches = compileGlob(name);
  return available.some((tool) => matches(tool) || tool.startsWith(`${name}__`));
}

const SECRET_LIKE = /(?:^|_)(?:API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|AUTH)(?:_|$)/i;

/** Does every declared variable have a value, and are such names allowed? Values are fetched later. */
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
      message: `Skill \`${name}\` declares ${showNames(blocked)}, which look like secrets, and \`skills.secret-env\` is \`block\`.`,
      hint: "Set `skills.secret-env` to `allow` in your config to let skills have such variables.",
      data: { blocked },
    };
  }
  const { names, lines } = missingVariables({ skill, settings: skillSettings(config, name), given });
  if (names.length === 0) return undefined;
  return {
    reason: "environment",
    message: `Skill \`${name}\` needs ${showNames(names)}, but your config has no value for it.`,
    hint: lines.length > 0 ? `Add to your config:\n${lines.join("\n")}` : "Pass the values with the call.",
    data: { missing: names, lines },
  };
}

/**
 * Can the host perform what the skill declares, for this caller? Declared means enforced: if nobody can be asked, the
 * answer is no. A missing sign-in refuses nothing, because the skill itself starts it.
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
      command: "You can read the skill (`metier show`), but not run it here. Use one without `capabilities`.",
      program:
        "You can read the skill, but not run it here. Set `capabilities.providers`, or use one without `capabilities`.",
    });
    return refuse("but no capability provider is set up here.", hint);
  }
  if (!invocation.caller.userId?.trim()) {
    const hint = forReader({
      command: "Name the user with `--user`.",
      program: "Name the user with `caller: { userId }`.",
    });
    return refuse("which act for a user, but the request names none.", hint);
  }
  const cause = await host.capabilities(ids, invocation.caller);
  return cause && { reason: "capabilities", ...cause };
}
