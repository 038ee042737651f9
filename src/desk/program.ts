#!/usr/bin/env node
/** `metier-desk`: makes accounts of a desk, and serves the page on which they are linked. */
import { parseArgs } from "node:util";
import { UsageError } from "../foundation/errors.ts";
import { startAuthorizationServer } from "./authorization/authorization-server.ts";
import { DEFAULT_PORT } from "./authorization/protocol.ts";
import { accountFolder, addAccount, isAccountId, makePasscode } from "./desk-accounts.ts";
import { deskPlaces } from "./desk-places.ts";
import { ADDRESS_PATTERN } from "./mail/compose-message.ts";

const USAGE = `metier-desk: a mailbox and a calendar of this machine, for the skill \`desk\`

  metier-desk add <account> --email <address> [--name <name>]   make an account, and print its passcode
  metier-desk serve [--port ${DEFAULT_PORT}]                            serve the page on which accounts are linked

  --root <folder>   where the accounts are (default: DESK_ROOT, or ~/.metier/desk)

An account has a maildir in <folder>/<account>/mail and iCalendar files in <folder>/<account>/calendar.
`;

const EXIT_USAGE = 2;

interface Options {
  readonly email?: string | undefined;
  readonly name?: string | undefined;
  readonly port?: string | undefined;
  readonly root?: string | undefined;
  readonly help?: boolean | undefined;
}

async function run(words: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      email: { type: "string" },
      name: { type: "string" },
      port: { type: "string" },
      root: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  const [command, ...others] = positionals;
  const { root } = deskPlaces({ ...process.env, ...(values.root && { DESK_ROOT: values.root }) });
  if (values.help || command === undefined) process.stdout.write(USAGE);
  else if (command === "add" && others.length === 1) add(root, others[0] ?? "", values);
  else if (command === "serve" && others.length === 0) await serve(root, values);
  else
    throw new UsageError(
      `There is no \`${positionals.join(" ")}\`; \`metier-desk --help\` shows what there is.`,
    );
}

function add(root: string, id: string, { email = "", name = id }: Options): void {
  if (!isAccountId(id))
    throw new UsageError(`\`${id}\` is no account: use lower-case letters, digits, \`-\` and \`_\`.`);
  if (!new RegExp(ADDRESS_PATTERN).test(email))
    throw new UsageError(`\`${email}\` is no address: give one with \`--email\`.`);
  const passcode = makePasscode();
  if (!addAccount(root, { id, name, email }, passcode))
    throw new UsageError(`There is an account \`${id}\` in ${root} already.`);
  const folder = accountFolder(root, id);
  process.stdout.write(`Made ${folder}.\nIts passcode, which is shown only now: ${passcode}\n`);
}

async function serve(root: string, { port: text = String(DEFAULT_PORT) }: Options): Promise<void> {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  if (port < 0 || port > 65_535) throw new UsageError(`\`${text}\` is no port: give a number up to 65535.`);
  const server = await startAuthorizationServer({ root, port });
  process.stdout.write(`Accounts of ${root} are linked at ${server.url}. Ctrl-C ends it.\n`);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void server.close());
}

try {
  await run(process.argv.slice(2));
} catch (fault) {
  const message = fault instanceof Error ? fault.message : String(fault);
  process.stderr.write(`metier-desk: ${message}\n`);
  process.exitCode = EXIT_USAGE;
}
