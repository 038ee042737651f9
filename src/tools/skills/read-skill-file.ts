/** `read_skill_file`: tier 3 for a model without a file system, through the one path gate. Text only, in parts. */
import { outline, section } from "../../disclose/outline.ts";
import type { ResourceContent } from "../../disclose/read-resource.ts";
import { originLine, tellOrigin } from "../../disclose/tell-origin.ts";
import { neutralise } from "../../disclose/wrap-instructions.ts";
import { showPath } from "../../host/contained-path.ts";
import { showValue } from "../../validate/report.ts";
import { answer, fault, type ToolInput, type ToolOutput } from "../tool.ts";
import { answerForSkill, type SkillLibrary, type SkillTool, skillNameSchema } from "./skill-tool.ts";

/** In one answer; about 10,000 tokens. */
const MOST_BYTES = 40_000;
const MOST_SECTIONS_NAMED = 40;

export function readSkillFileTool(library: SkillLibrary): SkillTool {
  return {
    name: "read_skill_file",
    description:
      "Reads a text file of a skill, such as `references/guide.md`. Use it when the skill's instructions name a file. A long file comes in parts.",
    inputSchema: {
      type: "object",
      properties: {
        skill: skillNameSchema(library),
        path: { type: "string", description: "The file, as a path that starts at the skill's folder." },
        section: {
          type: "string",
          description: "Only this section of a Markdown file: its heading or number.",
        },
        offset: { type: "integer", minimum: 0, description: "The byte to begin at. Default: 0." },
      },
      required: ["skill", "path"],
      additionalProperties: false,
    },
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
  // What is no text is the gate's to refuse, in its own words.
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
