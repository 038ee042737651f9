/** Which forms of a skill file each client takes: its name, its fences, its YAML. */
import { basename } from "node:path";
import type { DiagnosticCode } from "../../foundation/diagnostic-codes.ts";
import { COMPAT_CLIENTS, type CompatClientId } from "./compat-clients.ts";
import { breaks, type CompatSubject, type Remark } from "./compat-subject.ts";

interface FormFact {
  /** The clients that do not take it. */
  readonly clients: readonly CompatClientId[];
  readonly applies: (subject: CompatSubject) => boolean;
  readonly about: string;
  readonly message: string;
}

const READS_FLAT_MARKDOWN: readonly CompatClientId[] = ["pi", "ash", "weakincentives"];
const READS_ANY_CASE: readonly CompatClientId[] = ["letta"];
const READS_LOWER_CASE: readonly CompatClientId[] = ["agentskills", ...READS_ANY_CASE];

/** What is between a file and two plain fences around keys. */
const BROKEN_FENCES: ReadonlySet<DiagnosticCode> = new Set([
  "file.escaped-line-ends",
  "frontmatter.missing",
  "frontmatter.no-opening",
  "frontmatter.unclosed",
  "frontmatter.stray-fence",
  "frontmatter.code-fence",
  "frontmatter.leading-comment",
  "frontmatter.empty",
  "frontmatter.not-a-mapping",
]);
/** They load whatever they find. */
const NEEDS_NO_FRONTMATTER: readonly CompatClientId[] = ["claude-code", "letta"];

const FACTS: readonly FormFact[] = [
  {
    clients: COMPAT_CLIENTS.map(({ id }) => id).filter((id) => !NEEDS_NO_FRONTMATTER.includes(id)),
    applies: ({ parsed }) => parsed.diagnostics.some(({ code }) => BROKEN_FENCES.has(code)),
    about: "file",
    message: "It does not begin with keys between two lines of `---`.",
  },
  {
    clients: ["agentskills", "codex", "gemini-cli", "letta", "weakincentives"],
    applies: ({ text }) => text.startsWith("\ufeff"),
    about: "file",
    message: "It begins with a byte order mark, so the frontmatter is not seen.",
  },
  {
    clients: ["agentskills", "codex", "gemini-cli", "qwen-code", "letta", "weakincentives"],
    applies: ({ text }) => /^\ufeff?[ \t\r\n]+---/.test(text),
    about: "file",
    message: "There is something before the first `---`, so the frontmatter is not seen.",
  },
  {
    clients: ["letta"],
    applies: ({ text }) => text.includes("\r"),
    about: "file",
    message: "Its lines end in CR LF, so the frontmatter is not seen.",
  },
  {
    clients: ["agentskills", "goose"],
    applies: ({ yaml }) => yaml.includes("---"),
    about: "file",
    message: "There is a `---` inside a value, and the frontmatter is taken to end there.",
  },
  {
    clients: [
      "agentskills",
      "opencode",
      "qwen-code",
      "goose",
      "pi",
      "agent-harness",
      "mamba",
      "weakincentives",
      "claude-ai",
      "ash",
    ],
    applies: ({ parsed }) =>
      parsed.diagnostics.some(({ code }) => code.startsWith("yaml.") && code !== "yaml.duplicate-key"),
    about: "file",
    message: "The frontmatter is not proper YAML, and is not repaired there.",
  },
  {
    clients: ["agentskills"],
    applies: ({ yaml }) => /^\s*(?:-\s+)?[\w.-]+:\s+[[{]|^\s*-\s+[[{]/m.test(yaml),
    about: "file",
    message: "A value is in flow style (`[a, b]` or `{…}`), which the validator takes for an error.",
  },
  {
    clients: ["letta"],
    applies: ({ yaml }) => /^description:\s*[|>][-+\d]*\s*$/m.test(yaml),
    about: "description",
    message: "It is written as a block, of which only the mark (`|` or `>`) is read.",
  },
];

export function checkFile(subject: CompatSubject, client: CompatClientId): readonly Remark[] {
  const facts = FACTS.filter(({ clients, applies }) => clients.includes(client) && applies(subject));
  return [...checkFileName(subject, client), ...facts.map(({ about, message }) => breaks(about, message))];
}

function checkFileName({ candidate }: CompatSubject, client: CompatClientId): readonly Remark[] {
  const { form, file } = candidate;
  const name = basename(file);
  if (form === "yaml") {
    return client === "ash" ? [] : [breaks("file", "It is a YAML file; only Markdown is read there.")];
  }
  if (form === "markdown") {
    const isRead = READS_FLAT_MARKDOWN.includes(client);
    return isRead
      ? []
      : [breaks("file", "It is a single file; only a folder with a `SKILL.md` is found there.")];
  }
  if (name === "SKILL.md") return [];
  const isRead =
    READS_ANY_CASE.includes(client) || (name === "skill.md" && READS_LOWER_CASE.includes(client));
  return isRead ? [] : [breaks("file", `It is called \`${name}\`; only \`SKILL.md\` is found there.`)];
}
