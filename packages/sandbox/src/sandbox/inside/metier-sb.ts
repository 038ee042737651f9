/**
 * `metier-sb`, the program that a sandboxed command finds on its PATH. It runs inside: this folder imports nothing but
 * itself and `node:`. From source the folder is bound whole and Node strips the types; `dist/` has it as one file.
 */

/** One file for each, loaded when it is asked for. Gives the exit code. */
type Command = (words: readonly string[]) => Promise<number>;

const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  capability: async () => (await import("./capability.ts")).runCapability,
  relay: async () => (await import("./relay.ts")).runRelay,
  store: async () => (await import("./store.ts")).runStore,
};

const USAGE_CODE = 2;

async function main([name = "", ...words]: readonly string[]): Promise<number> {
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (load !== undefined) return (await load())(words);
  const known = Object.keys(COMMANDS).join(", ");
  process.stderr.write(`metier-sb: there is no command \`${name}\`; there is ${known}\n`);
  return USAGE_CODE;
}

process.exit(await main(process.argv.slice(2)));
