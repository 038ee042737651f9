/**
 * Custom commands: Markdown files in `.metier/commands` and `.claude/commands` that a user calls as `/name args`. Read
 * with the fields and rules of a skill; a file in a subfolder is called `folder:name`.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import type { JsonSchema } from "@metier/base/json";
import {
  manifestJsonSchema,
  normaliseSkillName,
  type ParsedSkill,
  readFields,
  type Scope,
  type SkillManifest,
  type TrustDecision,
  validateSkill,
} from "@metier/skills";
import {
  type Built,
  type DefinitionFile,
  type DefinitionSources,
  loadDefinitions,
} from "./read-definitions.ts";

export interface CustomCommand {
  /** The text after the `/`: `review`, `git:commit`. */
  readonly name: string;
  /** `description`, `argumentHint`, `arguments`, `allowedTools`, `model`, …; its `name` is not the command's. */
  readonly manifest: SkillManifest;
  /** The text to send, before arguments are filled in. */
  readonly body: string;
  readonly scope: Scope;
  readonly location: string;
  readonly trust: TrustDecision;
}

export interface LoadedCommands {
  /** By name; if several share a name, the one that wins. */
  readonly commands: ReadonlyMap<string, CustomCommand>;
  readonly diagnostics: readonly Diagnostic[];
}

export async function loadCommands(sources: DefinitionSources): Promise<LoadedCommands> {
  const { definitions, diagnostics } = await loadDefinitions("commands", sources, buildCommand);
  return { commands: definitions, diagnostics };
}

/** A command needs no frontmatter, and its name always comes from its file. */
function buildCommand({ root, path, parsed, trust }: DefinitionFile): Built<CustomCommand> {
  const { manifest, diagnostics } = validateSkill(parsed, "lenient");
  const kept = diagnostics.filter(({ code }) => !NOT_OF_COMMANDS.has(code));
  const name = commandName(path);
  const { body, candidate } = parsed;
  const location = candidate.file;
  if (body === "" || manifest === undefined || name === "") {
    return { diagnostics: [...kept, reportEmpty(location)] };
  }
  return {
    definition: { name, manifest, body, location, scope: root.scope, trust },
    diagnostics: [...kept, ...reportIdleParts(parsed)],
  };
}

const NOT_OF_COMMANDS: ReadonlySet<string> = new Set([
  "frontmatter.missing",
  "frontmatter.no-opening",
  "description.missing",
  "name.missing",
  "name.grammar",
  "body.empty",
  "skill-file.empty",
  "field.not-honoured",
]);

const PLAIN_SEGMENT = /^[\p{L}\p{N}._-]+$/u;

function commandName(path: string): string {
  return path
    .replace(/\.md$/i, "")
    .split("/")
    .map((segment) => (PLAIN_SEGMENT.test(segment) ? segment : normaliseSkillName(segment)))
    .filter((segment) => segment !== "")
    .join(":");
}

function reportEmpty(path: string): Diagnostic {
  const message = "The command has no text or no name, so it is skipped.";
  const hint = "Write the prompt in the file, and name the file after what people type.";
  return { code: "definition.empty", severity: "error", path, message, hint };
}

/** Fields that decide how a skill runs: a command is a user's message, answered by the chat's own model. */
const IDLE_FIELDS: ReadonlySet<string> = new Set([
  "input-schema",
  "context",
  "agent",
  "background",
  "model",
  "preferred-model",
  "effort",
  "max-iterations",
  "required-tools",
  "toolsets",
  "env",
  "packages",
  "capabilities",
  "sandbox",
  "shell",
  "hooks",
  "fallback",
]);

const MARKS: readonly (readonly [mark: RegExp, shown: string])[] = [
  [/(?:^|\s)!`[^`\n]+`|^```!/m, "commands in its text (``!`…` ``)"],
  [/(?:^|\s)@[\w~.-]*[./][\w./-]*\w/m, "files in its text (`@path`)"],
];

/** Nothing in a custom command is dropped silently: the fields and marks that a chat ignores. */
function reportIdleParts(parsed: ParsedSkill): readonly Diagnostic[] {
  const { known } = readFields(parsed, () => undefined);
  const fields = known.filter(({ name, value }) => value !== null && IDLE_FIELDS.has(name));
  const idle = [
    ...fields.map(({ key }) => `\`${key}\``),
    ...MARKS.filter(([mark]) => mark.test(parsed.body)).map(([, shown]) => shown),
  ];
  if (idle.length === 0) return [];
  const message = `The command is sent without these, which Metier does not support: ${idle.join(", ")}.`;
  const hint = "Turn it into a skill, or check that it works without them.";
  const path = parsed.candidate.file;
  return [{ code: "definition.not-honoured", severity: "warning", path, message, hint }];
}

/** The schema of a custom command's frontmatter: the skill fields that a chat supports, all optional. */
export function commandJsonSchema(): JsonSchema {
  const { required: _required, ...schema } = manifestJsonSchema();
  return {
    ...schema,
    title: "Custom command frontmatter",
    description: "The YAML frontmatter of a custom command: .metier/commands/**/*.md. It is optional.",
  };
}
