/** The reference pages, each made from the table that the program itself reads, so that they can't disagree with it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DIAGNOSTIC_CODES } from "@metier/base/diagnostic";
import { ERROR_CODES } from "@metier/base/errors";
import { COMMANDS, manPage, publishedSchemas, runCli } from "@metier/cli";
import { BUILT_IN_ALIASES, PRICES, PRICES_AS_OF } from "@metier/run/model";
import { dialectsOf, isSpecField, MANIFEST_FIELDS, manifestJsonSchema } from "@metier/skills";
import { CONFIG_FIELDS } from "@metier/skills/config";
import { ROOT } from "../setup/repository.mjs";

const FOLDER = join(ROOT, "docs/reference");
const NOTE = "<!-- Written by `npm run docs:sync`; edit the table it is made from. -->";

const PROJECT_RULES = {
  tighten: "only to tighten, until granted",
  ignore: "once granted",
  never: "never",
};

/** @returns {Promise<Readonly<Record<string, string>>>} path → text */
export async function referencePages() {
  const pages = {
    "commands.md": page("Commands", await commands()),
    "configuration.md": page("Configuration", configuration()),
    "diagnostics.md": page("Diagnostics", diagnostics()),
    "errors.md": page("Errors", errors()),
    "frontmatter.md": page("Frontmatter", frontmatter()),
    "models.md": page("Models", models()),
    "manifest.schema.json": `${JSON.stringify(manifestJsonSchema(), null, 2)}\n`,
  };
  const generated = Object.keys(pages).map((name) => `- [${name}](${name})`);
  const parts = [
    "Made from the program's own tables:",
    generated.join("\n"),
    "Written by hand:",
    handWritten(pages),
  ];
  const all = { "README.md": page("Reference", parts), ...pages };
  const schemas = Object.entries(await publishedSchemas()).map(([name, schema]) => [
    `packages/metier/schemas/${name}.schema.json`,
    `${JSON.stringify(schema, null, 2)}\n`,
  ]);
  const reference = Object.entries(all).map(([name, text]) => [`docs/reference/${name}`, text]);
  return { ...Object.fromEntries([...reference, ...schemas]), "packages/metier/man/metier.1": manPage() };
}

/** A link to each page next to the generated ones. @param {Readonly<Record<string, string>>} generated */
function handWritten(generated) {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".md") && name !== "README.md" && generated[name] === undefined)
    .sort()
    .map((name) => {
      const text = readFileSync(join(FOLDER, name), "utf8");
      const [, title = name] = /^# (.+)$/m.exec(text) ?? [];
      const [, description = ""] = /^description: (.+)$/m.exec(text) ?? [];
      return `- [${title}](${name}): ${description}`;
    })
    .join("\n");
}

async function commands() {
  const overview = await help(["--help"]);
  const sections = [];
  for (const { name } of COMMANDS) {
    sections.push(`## \`metier ${name}\``, codeBlock(await help([name, "--help"])));
  }
  return ["The output of `metier --help` and `metier <command> --help`.", codeBlock(overview), ...sections];
}

/** @param {readonly string[]} args */
async function help(args) {
  /** @type {string[]} */
  const parts = [];
  const stdout = { write: (/** @type {string} */ text) => void parts.push(text) };
  const world = { cwd: ".", environment: {}, interactive: false, color: false };
  await runCli(args, {
    stdout,
    stderr: stdout,
    ...world,
    ask: async () => "",
    readLine: async () => ({ kind: "end" }),
    onInterrupt: () => () => undefined,
  });
  return parts.join("");
}

function configuration() {
  const rows = CONFIG_FIELDS.map((field) => [
    code(field.path),
    field.type.allowed,
    field.default === undefined ? "" : code(JSON.stringify(field.default)),
    field.description,
    PROJECT_RULES[field.project],
  ]);
  return [
    "Every key of a config file. `snake_case` and `camelCase` also work. The last column says whether a project's config file may set it.",
    table(["Key", "Value", "Default", "Meaning", "In a project file"], rows),
  ];
}

function diagnostics() {
  const rows = Object.entries(DIAGNOSTIC_CODES).map(([name, meaning]) => [code(name), meaning]);
  return [
    "Problems that Metier reports about a skill, a source, a config file or a run.",
    table(["Code", "Meaning"], rows),
  ];
}

function models() {
  const aliases = Object.entries(BUILT_IN_ALIASES).map(([alias, choices]) => [
    code(alias),
    choices.map(({ provider, model }) => code(`${provider}/${model}`)).join(", else "),
  ]);
  const prices = Object.entries(PRICES).flatMap(([provider, list]) =>
    Object.entries(list).map(([model, { inputPrice, outputPrice, long }]) => [
      code(`${provider}/${model}`),
      `$${inputPrice}`,
      `$${outputPrice}`,
      long ? `$${long.inputPrice} and $${long.outputPrice} over ${long.over} input tokens` : "",
    ]),
  );
  return [
    "Aliases that work without configuration. Metier uses the first provider with a key; your own `[models.<alias>]` wins.",
    table(["Alias", "Model"], aliases),
    `List prices per million tokens, as of ${PRICES_AS_OF}. \`input-price\` and \`output-price\` in your config win. Other models have no price until you set one.`,
    table(["Model", "Input", "Output", "Long requests"], prices),
  ];
}

function errors() {
  const rows = Object.entries(ERROR_CODES).map(([name, exitCode]) => [code(name), String(exitCode)]);
  return [
    "Every error that the library throws, and the exit code of a command that ends with it.",
    table(["Code", "Exit code"], rows),
  ];
}

function frontmatter() {
  const rows = MANIFEST_FIELDS.map((field) => [
    code(field.name),
    field.kind,
    field.description,
    (isSpecField(field) ? ["spec"] : dialectsOf(field).map(({ id }) => id)).join(", "),
    field.honouredBy ? "yes" : "read and kept",
  ]);
  return [
    "Every field that Metier knows. `snake_case` and `camelCase` also work.",
    table(["Field", "Value", "Meaning", "Known to", "Acted on"], rows),
  ];
}

/** @param {string} title @param {readonly string[]} parts */
function page(title, parts) {
  return `${[`# ${title}`, NOTE, ...parts].join("\n\n")}\n`;
}

/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
function table(head, rows) {
  const lines = [head, head.map(() => "---"), ...rows];
  return lines
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`)
    .join("\n");
}

/** @param {string} text */
function code(text) {
  return `\`${text}\``;
}

/** @param {string} text */
function codeBlock(text) {
  return `\`\`\`text\n${text.trim()}\n\`\`\``;
}
