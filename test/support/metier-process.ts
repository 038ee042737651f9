/** A long-running command of `metier` in a process of its own, over a test's home; ended with the test. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { COMPILED_CODE } from "./compiled-code.ts";
import { ROOT } from "./repository.ts";

export interface MetierProcess {
  /** What it said its address is. */
  readonly url: string;
  readonly child: ChildProcess;
  /** All that it wrote to its terminal. */
  readonly output: readonly string[];
  kill(): Promise<void>;
  /** As the system does it; gives the exit code. */
  terminate(): Promise<number | null>;
}

interface ProcessOptions {
  readonly home: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The line that it writes to stderr once it is there, with its address. */
  readonly ready: RegExp;
}

export async function startMetier({
  home,
  args,
  environment,
  ready,
}: ProcessOptions): Promise<MetierProcess> {
  const program = join(ROOT, "packages", "metier", "bin", "metier.js");
  const child = spawn(process.execPath, [program, ...args], {
    cwd: home,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...COMPILED_CODE, PATH: process.env.PATH, HOME: home, ...environment },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "exit");
  const output: string[] = [];
  createInterface(child.stdout).on("line", (line) => output.push(line));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stderr).on("line", (line) => {
      output.push(line);
      const [, address] = ready.exec(line) ?? [];
      if (address !== undefined) resolve(address);
    });
    child.once("exit", (code) =>
      reject(new Error(`\`metier ${args[0]}\` ended with ${code}: ${output.join("\n")}`)),
    );
  });
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    const [code] = (await ended) as [number | null];
    return code;
  };
  return {
    url,
    child,
    output,
    async kill() {
      await end("SIGKILL");
    },
    terminate: () => end("SIGTERM"),
  };
}
