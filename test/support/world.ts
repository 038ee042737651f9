/** A home and a project in a temporary folder, and a `Metier` or a command line over them. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { runCli } from "@metier/cli";
import { createMetier, type Metier, type MetierOptions } from "@metier/runtime";
import { temporaryFolder, writeTree } from "./temporary.ts";

export interface CliOutcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  readonly json: any;
}

export interface World {
  readonly root: string;
  readonly home: string;
  readonly project: string;
  /** `{ "home/.metier/skills/a/SKILL.md": … }` */
  write(files: Readonly<Record<string, string>>): void;
  metier(options?: MetierOptions): Promise<Metier>;
  cli(...args: readonly string[]): Promise<CliOutcome>;
  /** As in a terminal, where every question gets the next of these answers. */
  cliAnswering(answers: readonly string[], ...args: readonly string[]): Promise<CliOutcome>;
}

export interface WorldOptions {
  /** Whether the project is a git repository. Default: yes. */
  readonly repository?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
}

export function createWorld({ repository = true, environment = {} }: WorldOptions = {}): World {
  const root = temporaryFolder();
  const home = join(root, "home");
  const project = join(root, "project");
  mkdirSync(home);
  mkdirSync(project);
  if (repository) mkdirSync(join(project, ".git"));
  const env = { PATH: process.env.PATH ?? "", ...environment };

  const run = async (args: readonly string[], answers?: readonly string[]): Promise<CliOutcome> => {
    let stdout = "";
    let stderr = "";
    const left = [...(answers ?? [])];
    const code = await runCli([...args, "--home", home], {
      stdout: {
        write(text) {
          stdout += text;
        },
      },
      stderr: {
        write(text) {
          stderr += text;
        },
      },
      cwd: project,
      environment: env,
      interactive: answers !== undefined,
      color: false,
      async ask(question) {
        stdout += question;
        const answer = left.shift();
        if (answer === undefined) throw new Error(`An unexpected question: ${question}`);
        return answer;
      },
      async readLine(prompt) {
        stdout += prompt;
        const text = left.shift();
        return text === undefined ? { kind: "end" } : { kind: "line", text };
      },
      onInterrupt: () => () => undefined,
    });
    if (left.length > 0) throw new Error(`Answers that nobody asked for: ${left.join(", ")}`);
    return {
      code,
      stdout,
      stderr,
      get json() {
        return JSON.parse(stdout);
      },
    };
  };
  return {
    root,
    home,
    project,
    write: (files) => writeTree(root, files),
    metier: (options = {}) => createMetier({ cwd: project, home, environment: env, ...options }),
    cli: (...args) => run(args),
    cliAnswering: (answers, ...args) => run(args, answers),
  };
}

/** The text of a skill of that name. */
export function skill(name: string, more = "", body = "Do the thing."): string {
  return `---\nname: ${name}\ndescription: The ${name} skill.\n${more ? `${more}\n` : ""}---\n\n${body}\n`;
}
