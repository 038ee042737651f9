/** Skills that users may call, as MCP prompts: a client shows them as commands, and each returns the skill's text. */
import { presentFields } from "@metier/base/json";
import { cleanLine, compareText, showNames, showValue } from "@metier/base/text";
import { chooseExecution, decideAccess, refusalText } from "@metier/run";
import { quoteWord } from "@metier/sandbox";
import type { Skill } from "@metier/skills";
import {
  type GetPromptResult,
  type Prompt,
  type PromptArgument,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
} from "@modelcontextprotocol/server";
import { type Connection, noteGiven, pageOf, pageResult, trustMeta, trustNote } from "./connection.ts";

/** The one argument of every prompt: what would follow the command's name. */
const LINE = "arguments";

export function answerPrompts(server: Server, connection: Connection): void {
  server.setRequestHandler("prompts/list", ({ params }) =>
    pageResult(
      "prompts",
      pageOf(listPrompts(connection), ({ name }) => name, params?.cursor),
    ),
  );
  server.setRequestHandler("prompts/get", ({ params }, { mcpReq }) =>
    getPrompt(connection, params.name, params.arguments ?? {}, mcpReq.signal),
  );
}

export function listPrompts(connection: Connection): Prompt[] {
  return userSkills(connection).map((skill) => ({
    name: skill.name,
    description: cleanLine(skill.description),
    arguments: promptArguments(skill),
    ...trustMeta(skill),
  }));
}

/** Including skills that aren't for models: a person picks a prompt. */
function userSkills({ metier, options: { caller = {} } }: Connection): readonly Skill[] {
  const { config } = metier.config;
  return metier
    .list()
    .filter((skill) => skill.manifest.userInvocable && decideAccess(skill, caller, config) === undefined)
    .sort((a, b) => compareText(a.name, b.name));
}

function promptArguments({ manifest }: Pick<Skill, "manifest">): PromptArgument[] {
  const hint = manifest.argumentHint;
  const line = {
    name: LINE,
    description: `Arguments as on a command line${hint === undefined ? "" : `: ${cleanLine(hint)}`}.`,
    required: false,
  };
  const named = manifest.arguments.filter((name) => name !== LINE);
  return [line, ...named.map((name) => ({ name, required: false }))];
}

async function getPrompt(
  connection: Connection,
  name: string,
  given: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<GetPromptResult> {
  const { metier, conversation, options, host } = connection;
  const skill = userSkills(connection).find((candidate) => candidate.name === name);
  if (skill === undefined) throw refuse(`There is no prompt ${showValue(name)}.`);
  const line = argumentLine(skill, given);
  if (isRun(connection, skill)) return toMessages([askForRun(connection, skill, line)]);
  const request = {
    skill: name,
    source: "user" as const,
    ...presentFields({ caller: options.caller, arguments: line || undefined }),
    signal,
  };
  const outcome = await metier.activate(request, { canRun: false });
  if (outcome.kind === "refused") throw refuse(refusalText(outcome.refusal));
  if (outcome.kind === "run") throw new Error("Text was requested, but a run was made.");
  noteGiven(conversation, name, outcome.prepared.digest);
  return toMessages([trustNote(skill), host ? host.hide(outcome.text) : outcome.text]);
}

/** A line is used as is; named values go where the skill declares them. */
function argumentLine({ name, manifest }: Skill, given: Readonly<Record<string, string>>): string {
  const known = promptArguments({ manifest }).map((argument) => argument.name);
  const unknown = Object.keys(given).filter((key) => !known.includes(key));
  if (unknown.length > 0) {
    throw refuse(`Prompt \`${name}\` has no argument ${showNames(unknown)}; it takes ${showNames(known)}.`);
  }
  const line = given[LINE];
  const named = manifest.arguments.filter((key) => key !== LINE);
  const last = named.findLastIndex((key) => Object.hasOwn(given, key));
  if (line !== undefined && last >= 0) {
    throw refuse(`Prompt \`${name}\` takes either \`${LINE}\` or its named arguments, not both.`);
  }
  if (line !== undefined) return line;
  return named
    .slice(0, last + 1)
    .map((key) => quoteWord(given[key] ?? ""))
    .join(" ");
}

function isRun({ metier }: Connection, { manifest }: Skill): boolean {
  const configured = metier.config.config.skills.defaultExecution;
  return chooseExecution(manifest, { configured }) === "isolated";
}

/** A prompt is text: a skill that needs a run is left to the tool, if this server runs any. */
function askForRun({ library, options, host }: Connection, { name }: Skill, line: string): string {
  if (host) {
    throw refuse(
      `Skill \`${name}\` needs an isolated run, and a prompt is text. Start one with the tool \`run_skill\`.`,
    );
  }
  if (options.run === undefined) {
    throw refuse(
      `Skill \`${name}\` needs an isolated run, but this server only serves text (\`needs-run\`). Run it with \`metier run ${name}\`, or start the server with \`metier mcp --run\`.`,
    );
  }
  if (!library.skills().some((skill) => skill.name === name)) {
    throw refuse(
      `Skill \`${name}\` needs an isolated run and is not for models. Run it with \`metier run ${name}\`.`,
    );
  }
  const withLine = line === "" ? "" : ` and these \`arguments\`: ${line}`;
  return `Call the tool \`use_skill\` for the skill \`${name}\`, with the task as its \`message\`${withLine}`;
}

function toMessages(texts: readonly (string | undefined)[]): GetPromptResult {
  const text = texts.filter((part) => part !== undefined).join("\n\n");
  return { messages: [{ role: "user", content: { type: "text", text } }] };
}

function refuse(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
