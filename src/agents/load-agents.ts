/** All named agents: files beside the skills of the user and the project, and objects of the embedding program. */
import { compareDiagnostics, type Diagnostic } from "../foundation/diagnostic.ts";
import type { Json } from "../skill/manifest.ts";
import type { ParsedSkill } from "../skill/skill.ts";
import type { Agent, GivenAgent } from "./agent.ts";
import { buildAgent } from "./build-agent.ts";
import { type DefinitionSources, readDefinitions } from "./read-definitions.ts";
import { type Ranked, resolveDefinitions } from "./resolve-definitions.ts";

export interface AgentSources extends DefinitionSources {
  readonly given?: readonly GivenAgent[];
}

export interface LoadedAgents {
  /** By name; of several of one name the one that counts. */
  readonly agents: ReadonlyMap<string, Agent>;
  readonly diagnostics: readonly Diagnostic[];
}

/** Below every file, as integrations stand below user and project among skills. */
const GIVEN_RANK = 0;

type RankedAgent = Agent & Ranked;

export async function loadAgents({ given = [], ...sources }: AgentSources): Promise<LoadedAgents> {
  const { files, diagnostics: found } = await readDefinitions("agents", sources);
  const agents: RankedAgent[] = [];
  const diagnostics = [...found];
  for (const { root, parsed, trust } of files) {
    const built = buildAgent(parsed);
    diagnostics.push(...built.diagnostics);
    if (built.agent === undefined) continue;
    agents.push({
      ...built.agent,
      location: parsed.candidate.file,
      scope: root.scope,
      rank: root.rank,
      trust,
    });
  }
  for (const object of given) {
    const built = buildGiven(object);
    diagnostics.push(...built.diagnostics);
    if (built.agent) agents.push(built.agent);
  }
  const resolved = resolveDefinitions("agent", agents);
  return {
    agents: new Map([...resolved.winners].map(([name, { rank: _, ...agent }]) => [name, agent])),
    diagnostics: [...diagnostics, ...resolved.diagnostics].sort(compareDiagnostics),
  };
}

function buildGiven(given: unknown): {
  readonly agent?: RankedAgent;
  readonly diagnostics: readonly Diagnostic[];
} {
  const fields = toFields(given);
  const name = typeof fields?.name === "string" ? fields.name.trim() : "";
  if (fields === undefined || name === "" || typeof fields.systemPrompt !== "string") {
    return { diagnostics: [reportUnusable(name)] };
  }
  const { agent, diagnostics } = buildAgent(parsedObject(name, fields));
  const trust = { level: "trusted", reason: "The embedding program brings it." } as const;
  const located = diagnostics.map(({ line: _line, column: _column, ...rest }) => rest);
  if (agent === undefined) return { diagnostics: located };
  return {
    agent: { ...agent, location: "", scope: "integration", rank: GIVEN_RANK, trust },
    diagnostics: located,
  };
}

/** What a file could hold; the program may be JavaScript, so nothing is taken for granted. */
function toFields(given: unknown): Readonly<Record<string, Json>> | undefined {
  try {
    const value: unknown = JSON.parse(JSON.stringify(given) ?? "null");
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Readonly<Record<string, Json>>) : undefined;
  } catch {
    return undefined; // A circle, or something else that is no data; which is reported.
  }
}

function parsedObject(name: string, frontmatter: Readonly<Record<string, Json>>): ParsedSkill {
  return {
    candidate: { form: "markdown", file: `agent:${name}`, directory: "", defaultName: name },
    frontmatter,
    body: "",
    bodyLine: 1,
    position: () => undefined,
    written: () => undefined,
    diagnostics: [],
  };
}

function reportUnusable(name: string): Diagnostic {
  return {
    code: "given.unusable",
    severity: "error",
    path: `agent:${name || "(no name)"}`,
    message: "An agent was given that has no name or no system prompt as text.",
    hint: "Give an object with `name` and `systemPrompt`.",
  };
}
