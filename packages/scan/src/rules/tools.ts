/** What a skill's frontmatter asks for: more than it can need, or what you should know before you trust it. */
import { parseToolPattern } from "@metier/skills";
import type { ScanSeverity } from "@metier/skills/config";
import { isSecretVariable } from "../code/known-secrets.ts";
import type { Hit, RuleTable, ScannedSkill } from "../scanned-skill.ts";

function* atKey(
  skill: ScannedSkill,
  key: string,
  seen: readonly string[],
  severity?: ScanSeverity,
): Iterable<Hit> {
  if (seen.length === 0) return;
  const position = skill.parsed?.position(key) ?? skill.parsed?.position(key.replaceAll("-", "_"));
  yield {
    path: skill.skillFile,
    ...(position ?? { line: 1 }),
    seen: seen.join(", "),
    detail: `\`${seen.join("`, `")}\``,
    severity,
  };
}

function findTools(
  skill: ScannedSkill,
  isMeant: (tool: string, scope: string | undefined) => boolean,
  severity?: ScanSeverity,
): Iterable<Hit> {
  const asked = (skill.manifest?.allowedTools ?? []).filter((text) => {
    const pattern = parseToolPattern(text);
    return pattern !== undefined && isMeant(pattern.tool, pattern.scope);
  });
  return atKey(skill, "allowed-tools", asked, severity);
}

const SHELLS = /^(?:bash|shell|run_command|execute_command|terminal)$/i;
const FETCHERS = /^(?:webfetch|web_fetch|fetch)$/i;
const ANY = /^(?:\*|:\*|\*\*?|domain:\*)$/;
const HOMES = /^(?:\/|~|~\/|\$HOME|\$\{HOME\}|\/home|\/Users|\/root|\/etc|\/usr|~\/\.\w+.*)\/?\**$/;

export const TOOL_RULES: RuleTable = {
  "tools.everything": {
    severity: "medium",
    title: "The skill asks for every tool without approval",
    explanation: "`allowed-tools: *` approves every tool of a session, including ones added later.",
    help: "Name the tools you need.",
    find: (skill) => findTools(skill, (tool) => tool === "*"),
  },
  "tools.any-command": {
    severity: "low",
    title: "The skill asks to run any command",
    explanation:
      "`Bash` without a scope, or with `*`, approves every command line. Many skills write it out of habit, so it is `low`.",
    help: "Name the programs: `Bash(git:*)`.",
    find: (skill) =>
      findTools(skill, (tool, scope) => SHELLS.test(tool) && (scope === undefined || ANY.test(scope))),
  },
  "tools.any-host": {
    severity: "medium",
    title: "The skill asks to reach any host",
    explanation: "With `*` in `sandbox.network`, or in the scope of a web tool, data can go anywhere.",
    help: "Name the domains you need.",
    *find(skill) {
      const { network = [] } = skill.manifest?.sandbox ?? {};
      const anywhere = network.filter((domain) => /^\*(?:\.\*|\.\w+)?$/.test(domain));
      yield* atKey(skill, "sandbox", anywhere);
      yield* findTools(skill, (tool, scope = "") => FETCHERS.test(tool) && ANY.test(scope), "low");
    },
  },
  "tools.home-folder": {
    severity: "medium",
    title: "The skill asks for the home folder or the whole disk",
    explanation: "Keys, sign-ins and every program's settings are stored there.",
    help: "Name the folder you need.",
    *find(skill) {
      const { read = [], write = [] } = skill.manifest?.sandbox ?? {};
      const wide = [...write, ...read].filter((path) => HOMES.test(path));
      yield* atKey(skill, "sandbox", wide);
    },
  },
  "tools.hooks": {
    severity: "info",
    title: "The skill declares hooks",
    explanation:
      "They run alongside tool calls, without the model. Good to know before you trust the skill; not a defect.",
    help: "Review the commands.",
    find: (skill) => atKey(skill, "hooks", Object.keys(skill.manifest?.hooks ?? {})),
  },
  "tools.toolsets": {
    severity: "info",
    title: "The skill brings its own tools",
    explanation:
      "Their code runs whenever the model calls them. Good to know before you trust the skill; not a defect.",
    help: "Review the modules.",
    find: (skill) => atKey(skill, "toolsets", skill.manifest?.toolsets ?? []),
  },
  "tools.dynamic-context": {
    severity: "info",
    title: "The text has commands that run before it is shown",
    explanation:
      "Commands written as !`…` run as soon as a trusted skill is used, if the user allows them at all.",
    help: "Review the commands.",
    *find(skill) {
      const seen = new Set<string>();
      for (const { part } of skill.acts) {
        if (part.kind !== "dynamic" || part.path !== skill.skillFile || seen.has(part.text)) continue;
        seen.add(part.text);
        yield { path: part.path, line: part.firstLine, seen: part.text };
      }
    },
  },
  "tools.secret-variables": {
    severity: "info",
    title: "The skill asks for secrets",
    explanation:
      "It declares variables with names of credentials. Good to know before you trust the skill; not a defect.",
    help: "Give it keys with the fewest rights it needs.",
    find: (skill) => atKey(skill, "env", (skill.manifest?.env ?? []).filter(isSecretVariable)),
  },
};
