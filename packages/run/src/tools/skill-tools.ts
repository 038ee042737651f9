/**
 * The skills a model may use, and the tools that look into them: `list_skills`, `find_skills` and `read_skill_file`,
 * which need no run. For a model without a file system, also the text for its system prompt.
 */

import { sayFault } from "@metier/base/diagnostic";
import { showPath } from "@metier/base/files";
import type { Json } from "@metier/base/json";
import { cleanLine, nearestNames, showValue } from "@metier/base/text";
import {
  type ByteRange,
  type Conversation,
  createConversation,
  type FindHit,
  type Instructions,
  type ListingPlan,
  neutralise,
  originLine,
  outline,
  planListing,
  type ResourceContent,
  type ResourceListing,
  type Skill,
  section,
  type TokenCounter,
  tellOrigin,
  wrapInstructions,
} from "@metier/skills";
import {
  answer,
  countSchema,
  fault,
  inputSchema,
  type Tool,
  type ToolInput,
  type ToolOutput,
} from "./tool.ts";

/** Needs no run, so any host can call it: just `execute(input)`. */
export interface SkillTool extends Tool<unknown> {
  /** Makes one call; an error is an answer with `isError`. */
  execute(input: ToolInput): Promise<ToolOutput>;
}

/** The skills a model may use, at the time of a call. */
export interface SkillLibrary {
  /** By name. A skill that isn't listed doesn't exist for the model. */
  skills(): readonly Skill[];
  /** The skills that match a request in words, best first. */
  find(query: string, k?: number): Promise<readonly FindHit[]>;
  /** A skill's instructions, read and checked again. */
  getInstructions(name: string): Promise<Instructions>;
  /** The files of a skill. */
  listResources(name: string): ResourceListing;
  /** One file of a skill; throws `SkillResourceError` for anything else. */
  readResource(
    name: string,
    path: string,
    options?: {
      /** Which bytes. Default: all. */
      readonly range?: ByteRange;
    },
  ): ResourceContent;
  /** Why the scan blocks a skill, in words. Absent: nothing is scanned. */
  whyHeld?(skill: Skill): Promise<string | undefined>;
}

/** A longer list of names would cost more than it helps; the call is checked anyway. */
const MOST_NAMES = 100;

/** The schema of a skill's name: one of the existing ones. */
function skillNameSchema(library: SkillLibrary): Readonly<Record<string, Json>> {
  const names = library.skills().map(({ name }) => name);
  return {
    type: "string",
    description: "The skill's name.",
    ...(names.length <= MOST_NAMES && { enum: names }),
  };
}

/** A skill in a list for a model; marked if it is untrusted. */
function tellSkill({ name, description, trust }: Skill): Readonly<Record<string, string>> {
  return {
    name,
    description: cleanLine(description),
    ...(trust.level === "untrusted" && { trust: trust.level }),
  };
}

/** Answers a call for one skill; every error, even the host's, becomes an answer the model can act on. */
async function answerForSkill(
  library: SkillLibrary,
  input: ToolInput,
  answerFor: (skill: Skill) => ToolOutput | Promise<ToolOutput>,
): Promise<ToolOutput> {
  const skill = library.skills().find(({ name }) => name === input.skill);
  if (skill === undefined) return fault(describeMiss(library, input.skill));
  return answerSafely(async () => {
    const held = await library.whyHeld?.(skill);
    return held === undefined ? answerFor(skill) : fault(held);
  });
}

export async function answerSafely(work: () => ToolOutput | Promise<ToolOutput>): Promise<ToolOutput> {
  try {
    return await work();
  } catch (error) {
    return fault(sayFault(error));
  }
}

function describeMiss(library: SkillLibrary, asked: Json | undefined): string {
  if (typeof asked !== "string") return "`skill` must be the name of a skill.";
  const names = library.skills().map(({ name }) => name);
  return `There is no skill ${showValue(asked)}. ${suggestSkills(asked, names)}`;
}

export function suggestSkills(asked: string, names: readonly string[]): string {
  const near = nearestNames(asked, names).map(showValue);
  return near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "`list_skills` names those there are.";
}

/** In one answer. */
const MOST_LISTED = 100;

/** `list_skills`: names and descriptions as a JSON list. It is empty without skills, which isn't an error. */
export function listSkillsTool(library: SkillLibrary): SkillTool {
  const total = library.skills().length;
  const pages =
    total > MOST_LISTED
      ? ` There are ${total}; a call gives ${MOST_LISTED} of them, from \`offset\` on.`
      : "";
  return {
    name: "list_skills",
    description: `Lists the skills you can use, with what each is for, as JSON.${pages}`,
    inputSchema: inputSchema({ offset: countSchema("How many skills to pass over. Default: 0.", 0) }),
    effect: "read",
    async execute({ offset }) {
      const first = typeof offset === "number" ? Math.max(0, offset) : 0;
      const page = library.skills().slice(first, first + MOST_LISTED);
      return answer(JSON.stringify(page.map(tellSkill), undefined, 1));
    },
  };
}

const USUAL_HITS = 5;
const MOST_HITS = 50;

/** `find_skills`: the skills that match a task in words, for a model that can't be told about all of them. */
export function findSkillsTool(library: SkillLibrary): SkillTool {
  return {
    name: "find_skills",
    description:
      "Finds skills by what they are for. Answers with names and descriptions as JSON, best first; call `use_skill` with the one that fits.",
    inputSchema: inputSchema(
      {
        query: { type: "string", description: "A few words about the task." },
        k: countSchema(`How many to answer with. Default: ${USUAL_HITS}.`, 1, MOST_HITS),
      },
      ["query"],
    ),
    effect: "read",
    async execute({ query, k }) {
      if (typeof query !== "string" || query.trim() === "") {
        return fault("`query` must be a few words about the task.");
      }
      const most = typeof k === "number" && k >= 1 ? Math.min(k, MOST_HITS) : USUAL_HITS;
      return answerSafely(async () => {
        const known = new Map(library.skills().map((skill) => [skill.name, skill]));
        // The search knows every skill, the model only those it may use: request all hits, so that none is missed.
        const all = await library.find(query, Number.POSITIVE_INFINITY);
        const hits = all.flatMap(({ name }) => known.get(name) ?? []);
        return answer(JSON.stringify(hits.slice(0, most).map(tellSkill), undefined, 1));
      });
    },
  };
}

/** In one answer; about 10,000 tokens. */
const MOST_BYTES = 40_000;
const MOST_SECTIONS_NAMED = 40;

/** `read_skill_file`: tier 3 for a model without a file system, through the one path gate. Text only, in parts. */
export function readSkillFileTool(library: SkillLibrary): SkillTool {
  return {
    name: "read_skill_file",
    description:
      "Reads a text file of a skill, such as `references/guide.md`. Use it when the skill's instructions name a file. A long file comes in parts.",
    inputSchema: inputSchema(
      {
        skill: skillNameSchema(library),
        path: { type: "string", description: "The file, as a path that starts at the skill's folder." },
        section: {
          type: "string",
          description: "Only this section of a Markdown file: its heading or number.",
        },
        offset: countSchema("The byte to begin at. Default: 0.", 0),
      },
      ["skill", "path"],
    ),
    effect: "read",
    execute: (input) =>
      answerForSkill(library, input, ({ name, remote }) => {
        const read =
          typeof input.section === "string"
            ? readSection(library, name, String(input.path), input.section)
            : readPart(library, name, input);
        return remote && !read.isError ? answer(`[${originLine(tellOrigin(remote))}]\n${read.text}`) : read;
      }),
  };
}

function readPart(library: SkillLibrary, name: string, { path, offset }: ToolInput): ToolOutput {
  const start = typeof offset === "number" ? offset : 0;
  // The gate refuses what isn't text, in its own words.
  const read = library.readResource(name, path as string, { range: { start, end: start + MOST_BYTES } });
  if (read.text === undefined) return fault(describeBytes(read));
  const { size, range } = read;
  const text = neutralise(read.text);
  if (range.start === 0 && range.end >= size) return answer(text);
  const rest = range.end < size ? `; go on with \`offset\` ${range.end}` : "";
  return answer(`[bytes ${range.start} to ${range.end} of ${size}${rest}]\n${text}`);
}

function readSection(library: SkillLibrary, name: string, path: string, wanted: string): ToolOutput {
  const read = library.readResource(name, path);
  if (read.text === undefined) return fault(describeBytes(read));
  const found = section(read.text, wanted);
  if (found === undefined) return fault(describeSections(path, wanted, read.text));
  if (found.text.length <= MOST_BYTES) return answer(neutralise(found.text));
  const cut = neutralise(found.text.slice(0, MOST_BYTES));
  return answer(
    `[the first ${MOST_BYTES} characters of ${found.text.length}; ask for a section within it, or read the file with \`offset\`]\n${cut}`,
  );
}

function describeBytes({ path, mediaType, size }: ResourceContent): string {
  return `${showPath(path)} is not text (${mediaType}, ${size} bytes), so it cannot be read here.`;
}

function describeSections(path: string, wanted: string, text: string): string {
  const entries = outline(text).filter(({ level }) => level > 0);
  if (entries.length === 0) return `${showPath(path)} has no sections; read it without \`section\`.`;
  const named = entries
    .slice(0, MOST_SECTIONS_NAMED)
    .map(({ number, title }) => showValue(`${number} ${title}`));
  const more = entries.length > named.length ? ", …" : "";
  return `${showPath(path)} has no section ${showValue(wanted)}; it has ${named.join(", ")}${more}.`;
}

/** Options of `skillTools`: the conversation, and the token budget of the listing. */
export interface SkillToolsOptions {
  /** What the conversation was already given; keep it between turns. Default: a new one. */
  readonly conversation?: Conversation;
  /** The most tokens for `instructions`. Default: 10,000. */
  readonly budget?: number | undefined;
  /** Default: an estimate that is never too low; `loadTokenCounter` fits more skills into the same budget. */
  readonly countTokens?: TokenCounter | undefined;
}

/** Skills for a model without a file system: text for the system prompt, and tools that need no run. */
export interface SkillTools {
  /** For the system prompt: which skills there are and how to use one. `""` if there are none. */
  readonly instructions: string;
  /** Includes `find_skills` if `instructions` can't list all skills; empty without skills. */
  readonly tools: readonly SkillTool[];
  /** How each skill is listed in `instructions`. */
  readonly report: ListingPlan["report"];
}

const USUAL_BUDGET = 10_000;

export function skillTools(
  library: SkillLibrary,
  options: SkillToolsOptions = {},
  /** For a host that can do more than return the text. */
  useSkill?: SkillTool,
): SkillTools {
  const { conversation = createConversation(), budget = USUAL_BUDGET, countTokens } = options;
  const skills = library.skills();
  const { text, report } = planListing(skills, {
    budget,
    location: "none",
    activation: "tool",
    ...(countTokens && { countTokens }),
  });
  if (skills.length === 0) return { instructions: "", tools: [], report };
  const isCut = report.nameOnly.length + report.counted.length > 0;
  const tools = [
    useSkill ?? activationTool(library, conversation),
    listSkillsTool(library),
    ...(isCut ? [findSkillsTool(library)] : []),
    readSkillFileTool(library),
  ];
  return { instructions: text, tools, report };
}

/**
 * `use_skill` for a host that runs no skills itself: returns the skill's instructions for the model to follow in the
 * same conversation. An unchanged repeat is answered with one sentence. Metier's own runs have a `use_skill` that can
 * also run a skill in isolation.
 */
function activationTool(library: SkillLibrary, conversation: Conversation): SkillTool {
  return {
    name: "use_skill",
    description:
      "Gives you the instructions of a skill, and the names of its files for `read_skill_file`. Follow them for the task at hand.",
    inputSchema: inputSchema({ skill: skillNameSchema(library) }, ["skill"]),
    effect: "skill",
    execute: (input) =>
      answerForSkill(library, input, async ({ name }) => {
        const { text, digest, manifest, origin } = await library.getInstructions(name);
        // The catalog is a snapshot; the file was read just now.
        if (manifest.disableModelInvocation) return fault(`Models can no longer use the skill \`${name}\`.`);
        const { resources } = library.listResources(name);
        const wrapped = wrapInstructions({ name, text, digest, resources, origin });
        return answer(conversation.activate({ name, digest }, wrapped).text);
      }),
  };
}
