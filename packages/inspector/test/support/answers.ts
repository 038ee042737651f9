/** Answers about skills as the API gives them, for views that are looked at and tested without a server. */
import type { ApiCatalog, ApiCatalogSkill, ApiFind, ApiListing, ApiPlan } from "@metier/service/api";

export function makeCatalogSkill(fields: Partial<ApiCatalogSkill> = {}): ApiCatalogSkill {
  const name = fields.name ?? "release-notes";
  const scope = fields.scope ?? "project";
  return {
    address: `${scope}:${name}`,
    name,
    scope,
    description: "Writes release notes from merged pull requests. Use it when a version is about to ship.",
    source: "server",
    status: "enabled",
    trust: "trusted",
    trustReason: "Its folder is trusted.",
    isForUsers: true,
    isForModels: true,
    listingTokens: 42,
    bodyTokens: 1_184,
    errors: 0,
    warnings: 0,
    tags: [],
    ...fields,
  };
}

const SKILLS: readonly ApiCatalogSkill[] = [
  makeCatalogSkill({
    name: "api-review",
    description:
      "Reviews a change of an HTTP API: names, status codes, compatibility. Use it before an API ships.",
    listingTokens: 51,
    bodyTokens: 2_310,
    tags: ["api", "review"],
  }),
  makeCatalogSkill({
    name: "commit-message",
    description: "Writes a commit message from staged changes, in the style of the repository.",
    scope: "user",
    trustReason: "It is in your own home folder.",
    bodyTokens: 640,
  }),
  makeCatalogSkill({
    name: "deploy",
    description: "Deploys the current branch to staging or production, after its tests have passed.",
    status: "unavailable",
    reason: "The program `kubectl` is not installed.",
    isForModels: false,
    bodyTokens: 3_480,
    warnings: 2,
  }),
  makeCatalogSkill({
    name: "invoice-reader",
    description: "Reads invoices (PDF) into JSON: sender, lines, taxes, totals.",
    scope: "installed",
    trust: "untrusted",
    trustReason: "Nobody has approved this content yet.",
    bodyTokens: 12_900,
    warnings: 1,
  }),
  makeCatalogSkill({
    name: "meeting-summary",
    description: "Summarizes a transcript: decisions, open questions, who does what until when.",
    status: "disabled",
    reason: "`metier disable meeting-summary` has switched it off.",
    scope: "user",
  }),
  makeCatalogSkill({ bodyTokens: 1_184, warnings: 1, tags: ["git", "writing"] }),
  makeCatalogSkill({
    name: "release-notes",
    scope: "user",
    status: "shadowed",
    reason: "`project:release-notes` has the same name and wins.",
  }),
  makeCatalogSkill({
    name: "sql-helper",
    description: "",
    status: "invalid",
    reason: "The frontmatter is not YAML: `description: uses: colons` in line 3.",
    trust: "untrusted",
    trustReason: "The file cannot be loaded.",
    isForModels: false,
    isForUsers: false,
    errors: 1,
    bodyTokens: 0,
  }),
  makeCatalogSkill({
    name: "translate",
    description: "Translates interface texts and keeps placeholders, plural forms and tone.",
    scope: "bundled",
    trustReason: "It comes with Metier.",
    bodyTokens: 890,
  }),
  makeCatalogSkill({
    name: "zero-downtime-migrations",
    description: "Plans changes of a database schema that never stop the program: expand, copy, contract.",
    scope: "installed",
    bodyTokens: 5_120,
  }),
];

export const catalogAnswer: ApiCatalog = {
  data: SKILLS,
  diagnostics: [
    {
      code: "config.unknown-key",
      severity: "warning",
      message: "The config has a key that nothing reads: `trustedPath`.",
      hint: "Did you mean `trustedPaths`?",
    },
  ],
};

export const findAnswer: ApiFind = {
  words: ["write", "release", "notes", "podcast"],
  data: [
    {
      name: "release-notes",
      description: makeCatalogSkill().description,
      score: 8.412,
      words: [
        { word: "release", fields: ["name", "description", "instructions"], share: 0.44 },
        { word: "notes", fields: ["name", "description"], share: 0.4 },
        { word: "write", fields: ["description"], share: 0.16 },
      ],
      missing: ["podcast"],
    },
    {
      name: "commit-message",
      description: "Writes a commit message from staged changes, in the style of the repository.",
      score: 1.23,
      words: [{ word: "write", fields: ["description", "headings"], share: 1 }],
      missing: ["release", "notes", "podcast"],
    },
  ],
};

export const listingAnswer: ApiListing = {
  text: "<available_skills>\n<skill><name>api-review</name><description>Reviews a change of an HTTP API: names, status codes, compatibility. Use it before an API ships.</description></skill>\n<skill><name>release-notes</name><description>Writes release notes from merged…</description></skill>\n<skill><name>translate</name></skill>\n</available_skills>\n2 more skills: ask `find_skills`.",
  budget: 4_000,
  tokens: 312,
  fits: true,
  full: ["api-review"],
  shortened: ["release-notes", "commit-message"],
  nameOnly: ["translate"],
  counted: ["invoice-reader", "zero-downtime-migrations"],
};

export const planAnswer: ApiPlan = {
  ok: true,
  skill: "release-notes",
  trust: "trusted",
  trustReason: "Its folder is trusted.",
  model: "anthropic/claude-sonnet-4-5",
  tools: [
    { name: "read_file", decision: "allow", rule: "`allowed-tools` of the skill" },
    { name: "bash", decision: "ask", rule: "The skill allows `git log:*` only; everything else asks." },
    { name: "write_file", decision: "deny", rule: "`deny: write_file` in your config" },
  ],
  hooks: [],
  env: ["GITHUB_TOKEN"],
  capabilities: ["issues.list"],
  backend: "bubblewrap",
  declared: { network: ["api.github.com"], write: ["."] },
  granted: { network: ["api.github.com"], write: [] },
  limits: { maxIterations: 10, timeoutMs: 600_000, maxOutputBytes: 1_000_000, maxTokens: 200_000 },
  system: "You are an agent with the skill release-notes.\n\n# Release notes\n…",
  message: "Write release notes for 1.3.0",
  diagnostics: [
    {
      code: "capability.unlinked",
      severity: "warning",
      message: "Nothing provides `chat.post`.",
      hint: "Wire a provider under `capabilities.providers`.",
    },
  ],
};
