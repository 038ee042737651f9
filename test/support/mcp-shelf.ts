/** A world whose config names an MCP server with skills (`mcp-skill-server.ts`), and the file that says what it answers. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { supportProgram } from "./bridges.ts";
import { createWorld, type World } from "./world.ts";

/** What the server says. */
export interface McpShelf {
  readonly skills: readonly ShelvedSkill[];
  readonly ttlMs?: number;
  readonly pageSize?: number;
  /** `endless`: another page each time. `loop`: back to the first one. */
  readonly pages?: "endless" | "loop";
  /** A server of the protocol's older form. */
  readonly isOld?: boolean;
  /** It does not know the extension. */
  readonly hasNoSkills?: boolean;
  /** The method that it never answers, or that ends it. */
  readonly hangs?: string;
  readonly dies?: string;
  /** The method that it answers with an error. */
  readonly fails?: string;
  /** Over HTTP: where it sends everyone. */
  readonly redirectsTo?: string;
  /** Where it writes what it is asked. */
  readonly log?: string;
}

export interface ShelvedSkill {
  readonly uri: string;
  /** By path; what its entry declares, and what it sends unless `sent` says otherwise. */
  readonly files: Readonly<Record<string, string>>;
  readonly frontmatter: Readonly<Record<string, unknown>>;
  /** In place of parts of its entry. */
  readonly entry?: Readonly<Record<string, unknown>>;
  readonly sent?: Readonly<Record<string, string>>;
  /** Paths that it declares and does not have. */
  readonly missing?: readonly string[];
  /** By path, the URI that it answers with instead. */
  readonly redirects?: Readonly<Record<string, string>>;
  /** Further contents of every answer, by their URIs. */
  readonly extra?: readonly string[];
  readonly isBinary?: boolean;
  readonly isUnlisted?: boolean;
}

export interface ShelvedWorld extends World {
  readonly shelfFile: string;
  shelve(shelf: McpShelf): void;
  /** What the server was asked since the last time, as `method uri`. */
  asked(): readonly string[];
}

/** A skill whose entry tells the truth; `more` are further lines of frontmatter as they parse. */
export function shelved(
  name: string,
  files: Readonly<Record<string, string>> = {},
  more: Readonly<Record<string, unknown>> = {},
): ShelvedSkill {
  const frontmatter = { name, description: `The ${name} skill.`, ...more };
  const lines = Object.entries(frontmatter).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  const text = `---\n${lines.join("\n")}\n---\n\nThe codeword of ${name} is quokka-${name}.\n`;
  return { uri: `skill://${name}/SKILL.md`, files: { "SKILL.md": text, ...files }, frontmatter };
}

/** The server is a program that is started when it is asked. */
export function createShelvedWorld(shelf: McpShelf, more = ""): ShelvedWorld {
  const world = createWorld();
  const shelfFile = join(world.root, "shelf.json");
  const command = supportProgram("./mcp-skill-server.ts", "stdio", shelfFile);
  return openShelf(world, shelfFile, shelf, `command = ${JSON.stringify(command)}\n${more}`);
}

/** The server listens, and wants `bearer` where one is given. Quicker where a test asks it often. */
export async function createListeningWorld(shelf: McpShelf, bearer = ""): Promise<ShelvedWorld> {
  const world = createWorld();
  const shelfFile = join(world.root, "shelf.json");
  const opened = (url: string): ShelvedWorld =>
    openShelf(world, shelfFile, shelf, `url = "${url}"\n${bearer && `bearer = "${bearer}"\n`}`);
  writeFileSync(shelfFile, JSON.stringify(shelf));
  const [program = "", ...args] = supportProgram("./mcp-skill-server.ts", "http", shelfFile, bearer);
  const server = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void server.kill());
  for await (const port of createInterface({ input: server.stdout })) {
    return opened(`http://127.0.0.1:${port}/mcp`);
  }
  throw new Error("The server does not listen.");
}

function openShelf(world: World, shelfFile: string, first: McpShelf, table: string): ShelvedWorld {
  const log = join(world.root, "asked.log");
  const shelve = (shelf: McpShelf): void => writeFileSync(shelfFile, JSON.stringify({ ...shelf, log }));
  shelve(first);
  world.write({ "home/.metier/config.toml": `[mcp.servers.docs]\n${table}` });
  return {
    ...world,
    shelfFile,
    shelve,
    asked() {
      if (!existsSync(log)) return [];
      const lines = readFileSync(log, "utf8").trim().split("\n");
      writeFileSync(log, "");
      return lines.filter((line) => /^(?:skills|resources)\//.test(line)).map((line) => line.trim());
    },
  };
}
