/**
 * Custom commands: Markdown files in `.metier/commands` and `.claude/commands`, which a user calls as `/name args`. Read
 * with the fields and rules of a skill; a file in a sub-folder is called `folder:name`.
 */
import { compareDiagnostics, type Diagnostic } from "../foundation/diagnostic.ts";
import type { SkillManifest } from "../skill/manifest.ts";
import type { Scope } from "../skill/scope.ts";
import type { TrustDecision } from "../skill/skill.ts";
import { normaliseSkillName } from "../skill/skill-name.ts";
import { validateSkill } from "../validate/validate-skill.ts";
import { type DefinitionFile, type DefinitionSources, readDefinitions } from "./read-definitions.ts";
import { reportIdleParts } from "./report-idle-parts.ts";
import { resolveDefinitions } from "./resolve-definitions.ts";

export interface CustomCommand {
  /** What stands after the `/`: `review`, `git:commit`. */
  readonly name: string;
  /** `description`, `argumentHint`, `arguments`, `allowedTools`, `model`, …; its `name` is not the command's. */
  readonly manifest: SkillManifest;
  /** What is sent, before arguments are put in. */
  readonly body: string;
  readonly scope: Scope;
  readonly location: string;
  readonly trust: TrustDecision;
}

export interface LoadedCommands {
  /** By name; of several of one name the one that counts. */
  readonly commands: ReadonlyMap<string, CustomCommand>;
  readonly diagnostics: readonly Diagnostic[];
}

export async function loadCommands(sources: DefinitionSources): Promise<LoadedCommands> {
  const { files, diagnostics: found } = await readDefinitions("commands", sources);
  const commands: (CustomCommand & { readonly rank: number })[] = [];
  const diagnostics = [...found];
  for (const file of files) {
    const { root, path, parsed, trust } = file;
    const { manifest, diagnostics: noted } = checkCommand(file);
    diagnostics.push(...noted);
    if (manifest === undefined) continue;
    const { body, candidate } = parsed;
    const location = candidate.file;
    commands.push({
      name: commandName(path),
      manifest,
      body,
      location,
      scope: root.scope,
      rank: root.rank,
      trust,
    });
  }
  const { winners, diagnostics: lost } = resolveDefinitions("command", commands);
  return {
    commands: new Map([...winners].map(([name, { rank: _, ...command }]) => [name, command])),
    diagnostics: [...diagnostics, ...lost].sort(compareDiagnostics),
  };
}

/** A command needs no frontmatter, and is named after its file whatever it says. */
function checkCommand({ path, parsed }: DefinitionFile): {
  readonly manifest?: SkillManifest;
  readonly diagnostics: readonly Diagnostic[];
} {
  const { manifest, diagnostics } = validateSkill(parsed, "lenient");
  const kept = diagnostics.filter(({ code }) => !NOT_OF_COMMANDS.has(code));
  if (parsed.body === "" || manifest === undefined || commandName(path) === "") {
    return { diagnostics: [...kept, reportEmpty(parsed.candidate.file)] };
  }
  return { manifest, diagnostics: [...kept, ...reportIdleParts(parsed)] };
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
  return {
    code: "definition.empty",
    severity: "error",
    path,
    message: "The command has no text or no name, so it is left out.",
    hint: "Write what is to be done into the file, and name it after what people type.",
  };
}
