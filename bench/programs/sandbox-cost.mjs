/**
 * What starting a command costs, plainly, with a bare call of bubblewrap and with each backend, in turns in one
 * process. Prints the milliseconds of every round as JSON for each that works here, and for the others why they don't.
 */
import { spawn } from "node:child_process";
import { createCommandFinder } from "@metier/base/programs";
import { chooseSandbox, createBubblewrapCall } from "@metier/sandbox";
import { BACKENDS, BARE, BUBBLEWRAP, MADE_FOR_IT, PLAIN, UNLIMITED } from "../sandbox/contestants.mjs";

/** @typedef {import("../../packages/sandbox/src/sandbox/sandbox.ts").SandboxCommand} Command */
/** @typedef {() => Promise<void>} Run to its end; throws unless the command ended well */

const [folder = "", rounds = "1", warmUps = "0"] = process.argv.slice(2);
const find = createCommandFinder(process.env);

/** @type {Command} */
const COMMAND = {
  argv: ["true"],
  world: {
    cwd: folder,
    workDir: folder,
    readable: [folder],
    writable: [folder],
    masked: [],
    protectedPaths: [],
  },
  env: {},
  limits: { timeoutMs: 60_000, maxOutputBytes: 1_000_000 },
};
/** As in a run: the defaults of `[sandbox]`. */
const LIMITS = { memoryMb: 4096, processes: 256, workMb: 2048 };

/** The same limits, for one process. */
const PROCESS_LIMITS = {
  maxProcesses: LIMITS.processes,
  maxMemoryBytes: LIMITS.memoryMb * 1024 * 1024,
  maxFileBytes: LIMITS.workMb * 1024 * 1024,
};

/** @type {Map<string, Run | string>} */
const contestants = new Map();
contestants.set(PLAIN, startPlainly(find("true") ?? "true", [], []));
contestants.set(UNLIMITED, callBubblewrap());
contestants.set(BARE, callBubblewrap(find("prlimit")));
contestants.set(MADE_FOR_IT, await openBackend(BUBBLEWRAP, { stdin: "" }));
for (const backend of BACKENDS) contestants.set(backend, await openBackend(backend));

/** @type {Record<string, number[] | string>} */
const results = {};
for (let round = -Number(warmUps); round < Number(rounds); round++) {
  for (const [name, run] of contestants) {
    if (typeof run === "string") {
      results[name] = run;
      continue;
    }
    const start = performance.now();
    await run();
    const took = performance.now() - start;
    const times = results[name] ?? [];
    if (round >= 0 && typeof times !== "string") results[name] = [...times, took];
  }
}
process.stdout.write(JSON.stringify(results));

/**
 * The same arguments as the backend's, without watchdog and checks.
 *
 * @param {string} [prlimit] the program that sets a process's limits inside
 * @returns {Run | string}
 */
function callBubblewrap(prlimit) {
  const bwrap = find("bwrap");
  if (bwrap === undefined) return "bubblewrap is not installed.";
  const limited = { ...COMMAND, limits: { ...COMMAND.limits, ...PROCESS_LIMITS } };
  const call = createBubblewrapCall({ bwrap, ...(prlimit !== undefined && { prlimit }) });
  const { program, args, handed } = call(COMMAND.world, limited);
  return startPlainly(program, args, handed);
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @param {readonly (string | Uint8Array)[]} handed what it reads from descriptors 3 and up
 * @returns {Run}
 */
function startPlainly(program, args, handed) {
  return () =>
    new Promise((settle, fail) => {
      const pipes = handed.map(() => /** @type {const} */ ("pipe"));
      const child = spawn(program, args, { env: {}, cwd: "/", stdio: ["ignore", "pipe", "pipe", ...pipes] });
      child.stdout?.resume();
      child.stderr?.resume();
      for (const [index, content] of handed.entries()) {
        const pipe = child.stdio[3 + index];
        if (pipe && "end" in pipe) pipe.end(content);
      }
      child.on("error", fail);
      child.on("close", (code) => (code === 0 ? settle() : fail(new Error(`${program}: exit code ${code}`))));
    });
}

/**
 * @param {import("../../packages/sandbox/src/sandbox/sandbox.ts").SandboxBackend} backend
 * @param {Partial<Command>} [more]
 * @returns {Promise<Run | string>}
 */
async function openBackend(backend, more) {
  const { sandbox, probes } = await chooseSandbox({ backend, trust: "trusted", limits: LIMITS });
  if (!sandbox) return probes.map(({ reason }) => reason).join(" ");
  const argv = sandbox.runsPrograms ? COMMAND.argv : ["bash", "-c", "true"];
  return async () => {
    const outcome = await sandbox.run({ ...COMMAND, argv, ...more });
    if (outcome.exitCode !== 0) throw new Error(`${backend}: ${outcome.reason ?? outcome.stderr}`);
  };
}
