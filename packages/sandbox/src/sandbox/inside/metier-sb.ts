/**
 * `metier-sb`, the program on a sandboxed command's PATH. It runs inside, so this folder imports only itself and
 * `node:`. From source the folder is mounted as is and Node strips the types; in `dist/` it is one file.
 */

/** One file per command, loaded on use. Returns the exit code. */
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
  process.stderr.write(`metier-sb: unknown command \`${name}\`; the commands are ${known}\n`);
  return USAGE_CODE;
}

process.exit(await main(process.argv.slice(2)));
