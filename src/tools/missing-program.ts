/** A command that ended because a program is not there: which one, by what the shell said, and what to do about it. */
import type { CommandOutcome, Sandbox } from "../sandbox/sandbox.ts";

/** By which shells, `env` and sandboxes say it. */
const NOT_FOUND_CODE = 127;
const NOT_FOUND =
  /(?:^|[:\s])[‘'"`]?([A-Za-z0-9][\w.+-]{0,63})[’'"]?: (?:command not found|not found|No such file or directory)$/m;

/** What brings a program, where that is not simply its own package. */
const SOURCES: ReadonlyMap<string, string> = new Map([
  ["uv", "https://docs.astral.sh/uv/"],
  ["uvx", "https://docs.astral.sh/uv/"],
  ["deno", "https://deno.com"],
  ["bun", "https://bun.sh"],
]);

/** Metier's own program inside of the sandbox, which no config brings. */
const OWN = "metier-sb";

/** A sandbox that is a shell without programs says itself what it has. */
export function findMissingProgram(
  { ended, exitCode, stderr }: CommandOutcome,
  { runsPrograms }: Pick<Sandbox, "runsPrograms">,
): string | undefined {
  if (!runsPrograms || ended !== "exited" || exitCode !== NOT_FOUND_CODE) return undefined;
  return NOT_FOUND.exec(stderr.slice(-10_000))?.[1];
}

/** What a user does about it; the program itself was named before. */
export function explainPrograms(program: string): string {
  if (program === OWN)
    return "It is there in the `bubblewrap` sandbox alone; `metier doctor` says how to get it.";
  const source = SOURCES.get(program);
  const install = source === undefined ? "Install it" : `Install it (${source})`;
  return `${install}; if that is not below \`/usr\`, name it in your config: \`[sandbox] programs = ["${program}"]\`. \`metier doctor\` lists the programs that sandboxed commands find.`;
}

export function explainMissing(program: string): string {
  return `\`${program}\` is not among the programs that sandboxed commands find. ${explainPrograms(program)}`;
}
