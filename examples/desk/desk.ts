/** The desk's own command line: adds accounts, and runs the server whose page links them. */
import { parseArgs } from "node:util";
import { addAccount, deskRoot } from "./accounts.ts";
import { Fault, invalidInput } from "./operation.ts";
import { startServer } from "./server.ts";
import { DEFAULT_SERVER } from "./sign-in.ts";

const DEFAULT_PORT = new URL(DEFAULT_SERVER).port;

const USAGE = `node desk.ts add <account> --email <address> [--name <name>]   add an account and print its passcode
node desk.ts serve [--port ${DEFAULT_PORT}]                            run the sign-in server

Accounts are in DESK_ROOT, or in ~/.metier/desk.
`;

async function run(words: readonly string[]): Promise<void> {
  const text = { type: "string" } as const;
  const options = { email: text, name: text, port: { ...text, default: DEFAULT_PORT } };
  const { values, positionals } = parseArgs({ args: [...words], allowPositionals: true, options });
  const [command, id, ...others] = positionals;
  if (command === undefined) process.stdout.write(USAGE);
  else if (command === "add" && id !== undefined && others.length === 0) {
    const passcode = addAccount(deskRoot(), { id, name: values.name ?? id, email: values.email ?? "" });
    process.stdout.write(`Added ${id} in ${deskRoot()}. Its passcode, shown only now: ${passcode}\n`);
  } else if (command === "serve" && id === undefined) {
    const server = await startServer({ root: deskRoot(), port: Number(values.port) });
    process.stdout.write(`Accounts of ${deskRoot()} are linked at ${server.url}\n`);
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void server.close());
  } else throw invalidInput(`Unknown command \`${positionals.join(" ")}\`.\n${USAGE}`);
}

try {
  await run(process.argv.slice(2));
} catch (error) {
  const { code } = error as NodeJS.ErrnoException;
  if (!(error instanceof Fault) && !code) throw error;
  process.stderr.write(`desk: ${(error as Error).message}\n`);
  process.exitCode = 2;
}
