/** The clients whose way of reading skills is known, each with all known facts, which are from the time in `seen`. */
import { spellingsOf } from "@metier/base/text";
import { SPECIFICATION_KEYS } from "../skill/manifest.ts";
import { MAX_DESCRIPTION_LENGTH } from "../skill/manifest-fields.ts";
import { SCOPES } from "../skill/skill-name.ts";
import type { BodyRule, Client, DescriptionRule, Effect } from "./client.ts";

const SHARED = ".agents/skills";
const CLAUDE = ".claude/skills";

type LongestRule = NonNullable<DescriptionRule["longest"]>;

/** What happens to a description that exceeds the specification's length. */
const longer = (effect: Effect, words: string): LongestRule => ({
  characters: MAX_DESCRIPTION_LENGTH,
  effect,
  words,
});
const REFUSES_LONGER = longer("breaks", "A longer one is refused");
/** For the description followed by `when_to_use`. */
const CLAUDE_LISTING_LENGTH = 1536;
/** For more than 5,000 tokens. Four characters are about one token of English. */
const noteLongBody = (message: string): BodyRule => ({ characters: 20_000, effect: "note", message });

/** Peculiarities that often come together. */
const TRIPS_AT_START = ["trips-over-byte-order-mark", "trips-over-blanks-before"] as const;
const TOOLS_IN_WORDS = ["tools-are-a-line", "tools-without-commas"] as const;
const METADATA_OF_TEXTS = ["metadata-is-a-map", "metadata-holds-texts"] as const;

const words = (text: string): readonly string[] => text.split(" ");

/** In the order of reports. */
export const READERS: readonly Client[] = [
  {
    id: "agentskills",
    name: "Agent Skills reference validator",
    alsoCalled: ["skills-ref", "spec"],
    reading: {
      seen: "2026-08",
      basis: "source",
      keys: SPECIFICATION_KEYS,
      refusesOtherKeys: true,
      name: { required: true, grammar: ["specification", "breaks"], folder: "breaks" },
      description: { missing: "breaks", longest: REFUSES_LONGER },
      body: noteLongBody(
        "The specification recommends at most 5,000 tokens; put the rest into separate files.",
      ),
      replaces: false,
      ways: [
        "lower-case-name",
        ...TRIPS_AT_START,
        "trips-over-fence-in-value",
        "repairs-no-yaml",
        "takes-no-flow-style",
        "holds-compatibility",
        ...TOOLS_IN_WORDS,
        "metadata-is-flat",
      ],
    },
  },
  {
    id: "claude-code",
    name: "Claude Code",
    alsoCalled: ["claude"],
    folders: { user: CLAUDE, project: CLAUDE },
    reading: {
      seen: "2.1.325",
      basis: "run",
      keys: [
        ...SPECIFICATION_KEYS,
        // These in all three spellings.
        ...["display-name", "default-enabled"].flatMap(spellingsOf),
        ...words("fallback when_to_use argument-hint arguments disable-model-invocation user-invocable"),
        ...words("disallowed-tools model effort context agent background hooks paths shell"),
      ],
      description: {
        missing: "note",
        instead: "the first paragraph of the body is listed instead",
        longest: {
          characters: CLAUDE_LISTING_LENGTH,
          effect: "note",
          words: "The rest is cut from the skill list",
        },
      },
      body: noteLongBody("After a long conversation is compacted, only the first 5,000 tokens are kept."),
      replaces: ["arguments", "claude-folder", "command"],
      projectFolders: [CLAUDE],
      ways: ["needs-no-frontmatter"],
    },
  },
  {
    id: "claude-ai",
    name: "claude.ai and the Claude API",
    alsoCalled: ["claude.ai"],
    reading: {
      seen: "2026-09",
      basis: "documentation",
      keys: SPECIFICATION_KEYS,
      refusesOtherKeys: true,
      name: { required: true, text: true, grammar: ["plain", "breaks"], reserved: true },
      description: { missing: "breaks", text: true, longest: REFUSES_LONGER, noTags: true },
      ways: ["repairs-no-yaml", ...TOOLS_IN_WORDS, "metadata-is-flat"],
    },
  },
  {
    id: "codex",
    name: "Codex",
    folders: { user: SHARED, project: SHARED },
    reading: {
      seen: "0.166.0",
      basis: "source",
      keys: ["name", "description", "metadata"],
      name: { text: true, longest: { effect: "breaks", words: "A longer name is refused" } },
      description: { missing: "breaks", text: true, longest: REFUSES_LONGER },
      projectFolders: [SHARED, ".codex/skills"],
      ways: [...TRIPS_AT_START, "metadata-is-a-map", "short-description-is-text"],
    },
  },
  {
    id: "opencode",
    name: "opencode",
    folders: { user: ".config/opencode/skills", project: SHARED },
    reading: {
      seen: "1.18.33",
      basis: "source",
      keys: ["name", "description"],
      name: { required: true, text: true, grammar: ["plain", "note"] },
      description: { missing: "breaks", text: true },
      projectFolders: [".opencode/skills", CLAUDE, SHARED],
      ways: ["repairs-no-yaml"],
    },
  },
  {
    id: "gemini-cli",
    name: "Gemini CLI",
    alsoCalled: ["gemini"],
    folders: { user: ".gemini/skills", project: SHARED },
    reading: {
      seen: "0.61.0",
      basis: "source",
      keys: ["name", "description"],
      name: { required: true, grammar: ["file-name", "note"] },
      description: { missing: "breaks" },
      projectFolders: [".gemini/skills", SHARED],
      ways: [...TRIPS_AT_START],
    },
  },
  {
    id: "qwen-code",
    name: "Qwen Code",
    alsoCalled: ["qwen"],
    folders: { user: ".qwen/skills", project: ".qwen/skills" },
    reading: {
      seen: "0.24.4",
      basis: "source",
      keys: words(
        "name description allowedTools when_to_use argument-hint disable-model-invocation user-invocable model paths " +
          "hooks priority",
      ),
      name: { required: true, grammar: ["words", "breaks"] },
      description: { missing: "breaks" },
      projectFolders: [".qwen/skills", SHARED],
      ways: ["trips-over-blanks-before", "repairs-no-yaml", "qwen-values"],
    },
  },
  {
    id: "cursor",
    name: "Cursor",
    folders: { user: ".cursor/skills", project: SHARED },
    reading: {
      seen: "2026-08",
      basis: "documentation",
      keys: ["name", "description", "license", "compatibility", "metadata", "disable-model-invocation"],
      name: { required: true, grammar: ["plain", "note"], folder: "note" },
      description: { missing: "breaks" },
      projectFolders: [".cursor/skills", CLAUDE, ".codex/skills", SHARED],
      ways: ["switches-are-booleans"],
    },
  },
  {
    id: "copilot",
    name: "GitHub Copilot in VS Code",
    alsoCalled: ["github-copilot", "vscode"],
    folders: { user: ".copilot/skills", project: SHARED },
    reading: {
      seen: "2026",
      basis: "source",
      keys: ["name", "description", "argument-hint", "user-invocable", "disable-model-invocation"],
      name: {
        required: true,
        folder: "breaks",
        longest: { effect: "note", words: "A longer name is cut" },
      },
      description: { missing: "breaks", longest: longer("note", "The rest is cut") },
      projectFolders: [".github/skills", ".copilot/skills", CLAUDE, SHARED],
      ways: ["switches-are-booleans"],
    },
  },
  {
    id: "goose",
    name: "Goose",
    folders: { user: ".config/goose/skills", project: ".goose/skills" },
    reading: {
      seen: "2026-05",
      basis: "source",
      keys: ["name", "description"],
      name: { required: true, text: true },
      description: { missing: "breaks", text: true },
      replaces: ["arguments"],
      projectFolders: [".goose/skills", CLAUDE, SHARED],
      ways: ["trips-over-fence-in-value", "repairs-no-yaml"],
    },
  },
  {
    id: "amp",
    name: "Amp",
    folders: { user: ".config/agents/skills", project: SHARED },
    reading: {
      seen: "2026-09",
      basis: "documentation",
      keys: ["name", "description"],
      name: { required: true },
      description: { missing: "breaks" },
      projectFolders: [SHARED, CLAUDE],
    },
  },
  {
    id: "letta",
    name: "Letta Code",
    reading: {
      seen: "2026",
      basis: "source",
      keys: ["id", "name", "title", "description", "category", "tags"],
      description: { missing: "note", instead: "the first paragraph of the body is used instead" },
      projectFolders: [".skills", ".letta/skills"],
      ways: [
        "any-case-name",
        "needs-no-frontmatter",
        ...TRIPS_AT_START,
        "trips-over-carriage-returns",
        "takes-no-block-description",
        "metadata-counts-as-own",
      ],
    },
  },
  {
    id: "pi",
    name: "pi",
    folders: { user: SHARED, project: SHARED },
    reading: {
      seen: "0.87.1",
      basis: "source",
      keys: ["name", "description", "disable-model-invocation"],
      name: { grammar: ["plain", "note"], folder: "note" },
      description: { missing: "breaks", longest: longer("note", "It is loaded with a warning") },
      projectFolders: [".pi/skills", SHARED],
      ways: ["flat-files", "repairs-no-yaml", "switches-are-booleans"],
    },
  },
  {
    id: "ash",
    name: "ash",
    layout: {
      projectDirs: ["workspace/skills"],
      userDirs: ["~/.ash/skills"],
      installedDirs: ["~/.ash/skills.installed"],
      order: SCOPES,
      defaultExecution: "isolated",
      configFiles: [{ path: "~/.ash/config.toml", sections: ["skills", "models", "capabilities"] }],
    },
    reading: {
      seen: "2026",
      basis: "source",
      isRare: true,
      keys: words(
        "name description authors rationale opt_in sensitive access triggers model preferred_model max_iterations " +
          "allowed_tools required_tools input_schema env packages capabilities",
      ),
      refusesOtherKeys: true,
      description: { missing: "breaks" },
      ways: ["flat-files", "yaml-files", "repairs-no-yaml"],
    },
  },
  {
    id: "agent-harness",
    name: "agent-harness",
    folders: { user: ".agent/skills", project: ".agent/skills", ignoresLinks: true },
    layout: {
      projectDirs: [CLAUDE, ".agent/skills"],
      userDirs: ["~/.agent/skills"],
      installedDirs: ["~/.agent/plugins"],
      order: ["remote", "bundled", "integration", "custom", "user", "project", "installed"],
      configFiles: [{ path: "~/.agent/config.yaml", sections: ["skills"] }],
    },
    writes: ["triggers", "toolsets"],
    reading: {
      seen: "2026",
      basis: "source",
      isRare: true,
      keys: SPECIFICATION_KEYS,
      refusesOtherKeys: true,
      name: { required: true, text: true, grammar: ["plain", "breaks"], folder: "breaks" },
      description: { missing: "breaks", text: true, longest: REFUSES_LONGER },
      ways: ["repairs-no-yaml", "holds-compatibility", "tools-without-commas", ...METADATA_OF_TEXTS],
    },
  },
  {
    id: "mamba",
    name: "mamba-agents",
    alsoCalled: ["mamba-agents"],
    layout: {
      projectDirs: [".mamba/skills"],
      userDirs: ["~/.mamba/skills"],
      installedDirs: [],
      order: ["remote", "custom", "bundled", "integration", "installed", "user", "project"],
      defaultExecution: "inline",
      configFiles: [],
      environmentPrefix: "MAMBA_SKILLS__",
    },
    reading: {
      seen: "2026",
      basis: "source",
      isRare: true,
      keys: [
        ...SPECIFICATION_KEYS,
        ...words("model context agent argument-hint disable-model-invocation user-invocable hooks"),
      ],
      name: { required: true, grammar: ["hyphens", "breaks"], folder: "breaks" },
      description: { missing: "breaks" },
      body: noteLongBody("More than 5,000 tokens cause a warning."),
      replaces: ["arguments"],
      ways: ["repairs-no-yaml", "tools-are-a-list"],
    },
  },
  {
    id: "weakincentives",
    name: "weakincentives",
    /** One explicit directory: `skills.paths` or `--path`. */
    layout: {
      projectDirs: [],
      userDirs: [],
      installedDirs: [],
      order: SCOPES,
      defaultExecution: "inline",
      configFiles: [],
    },
    reading: {
      seen: "2026",
      basis: "source",
      isRare: true,
      keys: SPECIFICATION_KEYS,
      name: { required: true, text: true, grammar: ["plain", "breaks"], folder: "breaks" },
      description: { missing: "breaks", text: true, longest: REFUSES_LONGER },
      body: { characters: 1024 * 1024, effect: "breaks", message: "The limit for a skill file is 1 MiB." },
      ways: [
        "flat-files",
        ...TRIPS_AT_START,
        "repairs-no-yaml",
        "holds-compatibility",
        "tools-without-commas",
        "tools-only-a-line",
        ...METADATA_OF_TEXTS,
      ],
    },
  },
];
