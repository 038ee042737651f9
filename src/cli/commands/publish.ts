import { type DeclaredCommand, defineCommand, manyArguments, switchFlag, textFlag } from "./define.ts";

const SKILLS = manyArguments("skill", "Skill folder, folder of skills, or name of a skill");

export const publish: DeclaredCommand = defineCommand({
  name: "publish",
  group: "Connecting",
  brief: "Write skills and their index for a web site",
  description:
    "Puts skills below `<dir>/.well-known/agent-skills`, with the index by which clients find them (Agent Skills Discovery\n0.2.0). Archives have the same bytes on every machine. Every skill is validated strictly and scanned before; one that is\nnot valid, is blocked or holds a secret stops all, with exit code 1. Traces of editors and version control, `evals` and\nfiles named like secrets are left out, and listed. Files in the folder that this command did not write stay as they are.",
  examples: [
    "metier publish --well-known site skills/",
    "metier publish --well-known site pdf report --base-url https://example.com",
    "metier publish --well-known site skills/ --dry-run",
  ],
  flags: {
    wellKnown: textFlag("dir", "The folder that is served as the root of the site"),
    baseUrl: textFlag("url", "Where it is served, for complete addresses; default: relative ones"),
    force: switchFlag("Also replace files there that this command did not write"),
    dryRun: switchFlag("Check everything and write nothing"),
  },
  positional: SKILLS,
  action: "publish",
});

export const pack: DeclaredCommand = defineCommand({
  name: "pack",
  group: "Connecting",
  brief: "Pack skills as a plugin",
  description:
    "Writes a plugin of the Agent Plugins standard (1.0.0): `plugin.json`, `skills/` and, if you give one, `mcp.json`. The\noutput is a folder, or an archive when it ends in `.tar.gz` or `.tgz`. A plugin of one skill takes its name, description,\nversion and license from it. Skills are checked as `metier publish` checks them.",
  examples: [
    "metier pack skills/ --name team-tools --version 1.2.0 -o team-tools.tar.gz",
    "metier pack skills/ --manifest plugin.json --mcp mcp.json -o build/team-tools",
    "metier pack pdf -o pdf-plugin",
  ],
  flags: {
    output: textFlag("path", "A folder, or a file that ends in `.tar.gz` or `.tgz`"),
    manifest: textFlag("file", "A `plugin.json` to begin with; the options below go before its fields"),
    mcp: textFlag("file", "A file with `mcpServers`, for the plugin's `mcp.json`"),
    name: textFlag("name", "a–z, 0–9, single hyphens and dots, at most 64"),
    version: textFlag("version", "Of the plugin"),
    description: textFlag("text", "What the plugin is for"),
    author: textFlag("author", "`Name <mail> (address)`"),
    homepage: textFlag("url", "Where its documentation is"),
    repository: textFlag("url", "Where its source is"),
    license: textFlag("license", "An SPDX identifier"),
    keyword: {
      kind: "parsed",
      parse: String,
      optional: true,
      variadic: ",",
      placeholder: "word",
      brief: "A word to find it by (repeatable)",
    },
    force: switchFlag("Replace a plugin in the output folder"),
  },
  aliases: { o: "output" },
  positional: SKILLS,
  action: "pack",
});
