import { join } from "node:path";
import { candidateForFile, formOfFile } from "@metier/skills";
import { describe, expect, test } from "vitest";
import { skillText, temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createWorld } from "../../../../test/support/world.ts";
import { COMPAT_CLIENTS } from "../../src/publish/compat/check-file.ts";
import { type ClientReport, checkCompat } from "../../src/publish/compat/compatibility.ts";

/** What one client makes of a skill file; the folder is `pdf` unless the path says otherwise. */
async function reportOf(client: string, text: string, path = "pdf/SKILL.md"): Promise<ClientReport> {
  const folder = temporaryFolder();
  writeTree(folder, { [path]: text });
  const file = join(folder, path);
  const known = COMPAT_CLIENTS.find(({ id }) => id === client);
  if (known === undefined) throw new Error(`${client} is not known.`);
  const { clients } = await checkCompat(candidateForFile(file, formOfFile(file) ?? "directory"), [known]);
  const [report] = clients;
  if (report === undefined) throw new Error("There is no report.");
  return report;
}

const BASE = "name: pdf\ndescription: Reads PDF. Use it for PDF files.";

/** The clients in which something breaks, of those that are asked. */
async function breaksIn(text: string, path?: string): Promise<readonly string[]> {
  const reports = await Promise.all(COMPAT_CLIENTS.map(({ id }) => reportOf(id, text, path)));
  return reports.filter(({ works }) => !works).map(({ client }) => client);
}

describe("a skill of the specification's fields", () => {
  verifies(11, "works in every client but ash, which knows fewer", async () => {
    expect(await breaksIn(skillText(BASE))).toEqual([]);
    const full = `${BASE}\nlicense: MIT\ncompatibility: Needs git.\nallowed-tools: Read Bash(git:*)\nmetadata:\n  version: "1.0"`;
    expect(await breaksIn(skillText(full))).toEqual(["ash"]);
  });
});

describe("fields", () => {
  const text = skillText(
    `${BASE}\nallowed-tools: Read\nmodel: fast\npaths:\n  - src/**\nwhen_to_use: Always.`,
  );
  test.each([
    ["claude-code", ["allowed-tools", "model", "paths", "when_to_use"], []],
    ["qwen-code", ["model", "paths", "when_to_use"], ["allowed-tools"]],
    ["codex", [], ["allowed-tools", "model", "paths", "when_to_use"]],
    ["mamba", ["allowed-tools", "model"], ["paths", "when_to_use"]],
  ])("of %s are honoured or ignored", async (client, honoured, ignored) => {
    const report = await reportOf(client, text);
    expect(report).toMatchObject({ works: true, honoured: ["name", "description", ...honoured], ignored });
  });

  test("that are not known break the skill where unknown fields are refused", async () => {
    expect(await breaksIn(text)).toEqual(["agentskills", "claude-ai", "ash", "agent-harness"]);
    expect((await reportOf("agentskills", text)).breaks.map(({ about }) => about)).toEqual([
      "model",
      "paths",
      "when_to_use",
    ]);
  });

  test("in spellings of our own are not known elsewhere", async () => {
    const report = await reportOf("claude-code", skillText(`${BASE}\nallowed_tools: Read`));
    expect(report.ignored).toEqual(["allowed_tools"]);
  });
});

describe("names", () => {
  test.each([
    [
      "no name",
      "description: Reads PDF.",
      [
        "agentskills",
        "claude-ai",
        "opencode",
        "gemini-cli",
        "qwen-code",
        "cursor",
        "copilot",
        "goose",
        "amp",
        "agent-harness",
        "mamba",
        "weakincentives",
      ],
    ],
    [
      "a name with capitals and blanks",
      "name: PDF Reader\ndescription: x",
      ["agentskills", "claude-ai", "qwen-code", "copilot", "agent-harness", "mamba", "weakincentives"],
    ],
    [
      "another name than the folder's",
      "name: other\ndescription: x",
      ["agentskills", "copilot", "agent-harness", "mamba", "weakincentives"],
    ],
    [
      "a name that is a number",
      "name: 2024\ndescription: x",
      [
        "agentskills",
        "claude-ai",
        "codex",
        "opencode",
        "copilot",
        "goose",
        "agent-harness",
        "mamba",
        "weakincentives",
      ],
    ],
    [
      "a reserved word",
      "name: claude-pdf\ndescription: x",
      ["agentskills", "claude-ai", "copilot", "agent-harness", "mamba", "weakincentives"],
    ],
  ])("%s", async (_, frontmatter, clients) => {
    expect(await breaksIn(skillText(frontmatter))).toEqual(clients);
  });

  test("with letters of other scripts", async () => {
    const text = skillText("name: größe\ndescription: x");
    expect(await breaksIn(text, "größe/SKILL.md")).toEqual([
      "claude-ai",
      "agent-harness",
      "mamba",
      "weakincentives",
    ]);
  });

  test("of more than 64 characters", async () => {
    const name = "a".repeat(65);
    const text = skillText(`name: ${name}\ndescription: x`);
    expect(await breaksIn(text, `${name}/SKILL.md`)).toEqual([
      ...["agentskills", "claude-ai", "codex", "agent-harness", "mamba", "weakincentives"],
    ]);
    expect((await reportOf("copilot", text, `${name}/SKILL.md`)).notes[0]?.message).toContain("is cut");
  });
});

describe("descriptions", () => {
  test("that are missing break the skill, except where the body stands in", async () => {
    const works = COMPAT_CLIENTS.map(({ id }) => id).filter((id) => id === "claude-code" || id === "letta");
    const broken = await breaksIn(skillText("name: pdf"));
    expect(COMPAT_CLIENTS.map(({ id }) => id).filter((id) => !broken.includes(id))).toEqual(works);
  });

  test("of 1,025 characters are refused, cut or taken", async () => {
    const text = skillText(`name: pdf\ndescription: ${"x".repeat(1025)}`);
    expect(await breaksIn(text)).toEqual([
      "agentskills",
      "claude-ai",
      "codex",
      "agent-harness",
      "weakincentives",
    ]);
    expect((await reportOf("copilot", text)).notes[0]?.message).toContain("1025");
    expect((await reportOf("claude-code", text)).notes).toEqual([]);
  });

  test("are cut by Claude Code together with `when_to_use`", async () => {
    const text = skillText(`name: pdf\ndescription: ${"x".repeat(1000)}\nwhen_to_use: ${"y".repeat(600)}`);
    expect((await reportOf("claude-code", text)).notes[0]?.message).toContain("1601");
  });

  test("with tags are refused by claude.ai", async () => {
    const report = await reportOf("claude-ai", skillText("name: pdf\ndescription: Reads <b>PDF</b>."));
    expect(report.breaks).toEqual([{ about: "description", message: expect.stringContaining("tag") }]);
  });

  test("in a block are not understood by Letta", async () => {
    const text = skillText("name: pdf\ndescription: |\n  Reads PDF.");
    expect(await breaksIn(text)).toEqual(["letta"]);
  });
});

describe("values", () => {
  test.each([
    ["a list of tools", "allowed-tools:\n  - Read", ["ash", "weakincentives"]],
    [
      "a line where Qwen Code wants a list",
      "allowedTools: Read",
      ["agentskills", "claude-ai", "qwen-code", "ash", "agent-harness"],
    ],
    ["a line of paths", "paths: src/**", ["agentskills", "claude-ai", "qwen-code", "ash", "agent-harness"]],
    [
      "a path out of the project",
      "paths:\n  - ../x",
      ["agentskills", "claude-ai", "qwen-code", "ash", "agent-harness"],
    ],
    ["numbers below `metadata`", "metadata:\n  version: 1.0", ["ash", "agent-harness", "weakincentives"]],
    [
      "a map below `metadata`",
      "metadata:\n  openclaw:\n    os: linux",
      ["ash", "agent-harness", "weakincentives"],
    ],
    ["`metadata` that is a line", "metadata: x", ["codex", "ash", "agent-harness", "weakincentives"]],
    ["a name below `metadata`", "metadata:\n  name: other", ["letta", "ash"]],
    [
      "a long `compatibility`",
      `compatibility: ${"x".repeat(501)}`,
      ["agentskills", "ash", "agent-harness", "weakincentives"],
    ],
    ["flow style", "metadata: {a: b}", ["agentskills", "ash"]],
  ])("%s", async (_, more, clients) => {
    expect(await breaksIn(skillText(`${BASE}\n${more}`))).toEqual(clients);
  });
});

describe("files", () => {
  const text = skillText(BASE);
  test.each([
    ["a byte order mark", `\ufeff${text}`, ["agentskills", "codex", "gemini-cli", "letta", "weakincentives"]],
    [
      "lines before the frontmatter",
      `\n${text}`,
      ["agentskills", "codex", "gemini-cli", "qwen-code", "letta", "weakincentives"],
    ],
    ["CR LF", text.replaceAll("\n", "\r\n"), ["letta"]],
    ["`---` in a value", text.replace("Use it", "--- Use it"), ["agentskills", "goose"]],
    [
      "a colon that YAML does not take",
      text.replace("Use it", "Use: it"),
      [
        "agentskills",
        "claude-ai",
        "opencode",
        "qwen-code",
        "goose",
        "pi",
        "ash",
        "agent-harness",
        "mamba",
        "weakincentives",
      ],
    ],
  ])("with %s", async (_, content, clients) => {
    expect(await breaksIn(content)).toEqual(clients);
  });

  test("that are flat, or named otherwise, are found by few", async () => {
    const all = COMPAT_CLIENTS.map(({ id }) => id);
    const worksIn = async (content: string, path: string): Promise<readonly string[]> => {
      const broken = await breaksIn(content, path);
      return all.filter((id) => !broken.includes(id));
    };
    expect(await worksIn(text, "pdf.md")).toEqual(["pi", "ash", "weakincentives"]);
    expect(await worksIn(`${BASE}\ninstructions: Do it.\n`, "pdf.yaml")).toEqual(["ash"]);
    expect(await worksIn(text, "pdf/skill.md")).toEqual(["agentskills", "letta"]);
  });

  test("in a folder of one client are told to lie where another does not look", async () => {
    const path = ".claude/skills/pdf/SKILL.md";
    expect((await reportOf("codex", text, path)).notes).toEqual([
      { about: "folder", message: expect.stringContaining("`.agents/skills`") },
    ]);
    expect((await reportOf("opencode", text, path)).notes).toEqual([]);
    expect((await reportOf("codex", text)).notes).toEqual([]);
  });
});

describe("bodies", () => {
  test("with marks that only some clients replace", async () => {
    const text = skillText(BASE, `Do $ARGUMENTS in \${CLAUDE_SKILL_DIR}.\n\n!\`git log\``);
    expect((await reportOf("claude-code", text)).notes).toEqual([]);
    expect((await reportOf("codex", text)).notes[0]?.message).toMatch(/ARGUMENTS.*SKILL_DIR.*command/);
    expect((await reportOf("mamba", text)).notes[0]?.message).not.toContain("ARGUMENTS");
  });

  test("that are long", async () => {
    const text = skillText(BASE, "word ".repeat(5000));
    expect((await reportOf("claude-code", text)).notes[0]?.message).toContain("5,000 tokens");
    expect((await reportOf("codex", text)).notes).toEqual([]);
  });
});

describe("metier compat", () => {
  test("prints a row for each client, and ends with 1 where something breaks", async () => {
    const world = createWorld();
    world.write({ "project/pdf/SKILL.md": skillText(`${BASE}\nmodel: fast`) });
    const outcome = await world.cli("compat", "pdf");
    expect(outcome.code).toBe(1);
    expect(outcome.stdout).toMatch(/✗ {2}agentskills/);
    expect(outcome.stdout).toMatch(/✓ {2}claude-code .*name, description, model/);
    expect(outcome.stdout).toContain("works in 11 of 13 clients");
  });

  test("[U12] tells about a client that few use only when it is named", async () => {
    const world = createWorld();
    world.write({ "project/pdf/SKILL.md": skillText(`${BASE}\nlicense: MIT`) });
    const { code, stdout } = await world.cli("compat", "pdf");
    expect(stdout).not.toMatch(/\b(?:ash|agent-harness|mamba|weakincentives)\b/);
    expect(code).toBe(0);
    expect((await world.cli("compat", "pdf", "--json")).stdout).not.toMatch(/"(?:ash|mamba)"/);
    const named = await world.cli("compat", "pdf", "--client", "ash");
    expect([named.code, named.stdout]).toEqual([1, expect.stringMatching(/✗ {2}ash /)]);
    expect((await world.cli("compat", "pdf", "--client", "nobody")).stderr).not.toContain("mamba");
  });

  test("tells about the clients that are asked for, as JSON too", async () => {
    const world = createWorld();
    world.write({ "home/.metier/skills/pdf/SKILL.md": skillText(`${BASE}\nmodel: fast`) });
    const { code, json } = await world.cli("compat", "pdf", "--client", "codex,claude", "--json");
    expect(code).toBe(0);
    expect(json.works).toBe(true);
    expect(json.skills[0].clients.map(({ client }: ClientReport) => client)).toEqual([
      "codex",
      "claude-code",
    ]);
  });

  test("names the clients it knows when it is asked about another", async () => {
    const world = createWorld();
    world.write({ "project/pdf/SKILL.md": skillText(BASE) });
    const { code, stderr } = await world.cli("compat", "pdf", "--client", "codes");
    expect(code).toBe(2);
    expect(stderr).toContain("`codex`");
  });

  test("ends with 1 where there is no skill, and with 2 for none asked for", async () => {
    const world = createWorld();
    expect((await world.cli("compat", ".")).code).toBe(1);
    expect((await world.cli("compat")).code).toBe(2);
  });
});
