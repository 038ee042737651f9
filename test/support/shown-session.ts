/**
 * The session that a page shows: files (`md in <path>`), config (`toml user`) and commands with their output (`console`), from
 * top to bottom in one shell. In the output shown, `…` stands for any text of a line, and a line of `…` for any lines.
 */
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeBlocks, type Document } from "./documents.ts";
import { ROOT, readRepositoryFile } from "./repository.ts";
import type { Workplace } from "./workplace.ts";

interface FileStep {
  readonly kind: "file";
  readonly path: string;
  readonly content: string;
}

interface CommandStep {
  readonly kind: "command";
  readonly line: number;
  readonly command: string;
  readonly shown: string;
}

export interface CommandOutcome {
  readonly command: string;
  readonly line: number;
  readonly shown: string;
  readonly status: string;
  readonly output: string;
}

const MARK = "\u0001";
/** The port that pages use. Each session has another one, so that two can run at the same time. */
const PORT = /\b4000\b/g;
/** What pages show in place of the id of a run, and of a digest. */
const RUN_ID = "mwk4c2f1-8x0d3a";
const DIGEST = "fa61e798dbd92660";
/** A command that waits for something is a fault of the page, not of the machine. */
const PATIENCE_MS = 110_000;

export function hasSession(document: Document): boolean {
  return codeBlocks(document).some(({ info }) => info === "console");
}

/** Runs all commands of the page, and says what each printed and how it ended. */
export function runSession(document: Document, { cwd, home, env }: Workplace): readonly CommandOutcome[] {
  const steps = readSteps(document);
  const commands = steps.filter((step) => step.kind === "command");
  const port = String(randomInt(20_000, 50_000));
  const staged = join(dirname(home), "staged");
  mkdirSync(staged);
  const lines = steps.map((step, index) => {
    if (step.kind === "command") {
      return `{ ${step.command.replace(PORT, port)}\n} </dev/null; printf '%s%s\\n' '${MARK}' "$?"`;
    }
    const file = join(staged, String(index));
    writeFileSync(file, step.content);
    return step.path === ""
      ? `cat '${file}' >> "$HOME/.metier/config.toml"`
      : `install -D -m 644 '${file}' '${step.path}'`;
  });
  const script = ["exec 2>&1", "trap 'kill $(jobs -p) 2>/dev/null' EXIT", ...lines].join("\n");
  const { stdout } = spawnSync("bash", ["-c", script], { cwd, env, encoding: "utf8", timeout: PATIENCE_MS });
  const printed = stdout.split(new RegExp(`${MARK}(\\d+)\\n`));
  return commands.map(({ command, line, shown }, index) => ({
    command,
    line,
    shown,
    output: tidy(printed[index * 2] ?? "", home, port),
    status: printed[index * 2 + 1] ?? "did not end",
  }));
}

/** Whether what was printed is what the page shows. */
export function isAsShown(shown: string, output: string): boolean {
  const pattern = shown
    .split("\n")
    .map((line) =>
      line === "…"
        ? "(?:.*\\n)*?"
        : `${line
            .split("…")
            .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
            .join(".*?")}\\n`,
    )
    .join("");
  return new RegExp(`^${shown === "" ? "" : pattern}$`).test(output === "" ? "" : `${output}\n`);
}

/** Puts what was printed into the page, where it is not what the page shows. */
export function writeSession(document: Document, outcomes: readonly CommandOutcome[]): void {
  let next = 0;
  const text = document.text.replace(/^```console\n(.*?)^```$/gms, (_block, code: string) => {
    const written = commandsIn(code, 0).map(({ command }) => {
      const { shown, output } = outcomes[next++] ?? { shown: "", output: "" };
      const kept = isAsShown(shown, output) ? shown : keepElided(shown, output);
      return `$ ${command.replaceAll("\n", "\n> ")}\n${kept === "" ? "" : `${kept}\n`}`;
    });
    return `\`\`\`console\n${written.join("")}\`\`\``;
  });
  writeFileSync(join(ROOT, document.path), text);
}

/** What was printed, with the lines that the page shows in part and that still fit. */
function keepElided(shown: string, output: string): string {
  const elided = shown.split("\n").filter((line) => line.includes("…") && line !== "…");
  return output
    .split("\n")
    .map((line) => elided.find((part) => isAsShown(part, line)) ?? line)
    .join("\n");
}

/** Puts what a program printed into the `text output` block below it. */
export function writeOutput(path: string, program: string, printed: string): void {
  const text = readRepositoryFile(path);
  const end = text.indexOf(program) + program.length;
  const below = text
    .slice(end)
    .replace(/^```text output\n.*?^```$/ms, () => `\`\`\`text output\n${printed}\`\`\``);
  writeFileSync(join(ROOT, path), text.slice(0, end) + below);
}

function readSteps(document: Document): readonly (FileStep | CommandStep)[] {
  return codeBlocks(document).flatMap(({ info, code, line }): readonly (FileStep | CommandStep)[] => {
    const [, path] = /^\w+ in (\S+)$/.exec(info) ?? [];
    if (path !== undefined) return [{ kind: "file", path, content: code }];
    if (info === "toml user") return [{ kind: "file", path: "", content: code }];
    return info === "console" ? commandsIn(code, line) : [];
  });
}

/** `$ command`, further lines of it behind `> `, and below it what it prints. */
function commandsIn(code: string, line: number): readonly CommandStep[] {
  return [...code.matchAll(/^\$ (.*\n(?:> .*\n)*)((?:(?!\$ ).*\n)*)/gm)].map(
    ([, command = "", shown = ""]) => ({
      kind: "command",
      line,
      command: command.trimEnd().replaceAll("\n> ", "\n"),
      shown: shown.replace(/\n$/, ""),
    }),
  );
}

/** As a reader sees it: the home is Ada's, Metier is installed globally, ports and ids are the page's. */
function tidy(printed: string, home: string, port: string): string {
  return printed
    .replaceAll(home, "/home/ada")
    .replaceAll(join(ROOT, "packages/metier"), "/usr/lib/node_modules/metier")
    .replaceAll(port, "4000")
    .replace(/sha256:[0-9a-f]{16,64}…?/g, `sha256:${DIGEST.slice(0, 8)}…`)
    .replace(/(?<=@)[0-9a-f]{16}\b/g, DIGEST)
    .replace(/\bm[0-9a-z]{7}-[0-9a-z]{6}\b/g, RUN_ID)
    .replace(/[ \t]+$/gm, "")
    .replace(/\n+$/, "");
}
