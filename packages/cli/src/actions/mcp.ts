/** `metier mcp`: serves until the client or the user ends it. Over stdio, stdout carries only the protocol. */
import { resolve } from "node:path";
import { type Readable, Writable } from "node:stream";
import { UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { nearestNames, safeText, showNames, showValue } from "@metier/base/text";
import type { Caller } from "@metier/run";
import type { McpListenOptions, McpServerOptions, SkillServer } from "@metier/runtime/mcp";
import type { McpFlags } from "../commands/connecting.ts";
import type { Action } from "../commands/define.ts";
import { type CliContext, err, outJson, reply } from "../context.ts";
import { askForTrust, homeFolder, openMetier, workingDirectory } from "../open-metier.ts";
import { diagnosticText } from "../output/diagnostics.ts";
import { styleFor } from "../output/style.ts";
import { ownCommand } from "../own-command.ts";

export const mcpAction: Action<McpFlags> = async (context, flags) => {
  checkFlags(flags);
  if (flags.printConfig !== undefined) {
    printConfig(context, flags, flags.printConfig);
    return;
  }
  const where = flags.http ? listenOptions(flags, context.io.environment) : undefined;
  const input = flags.http ? undefined : requireInput(context);
  const style = styleFor(context.io.color);
  const metier = await askForTrust(context, flags, await openMetier(context, flags, { service: flags.http }));
  // The SDK is large, and no other command needs it.
  const { createMcpServer } = await import("@metier/runtime/mcp");
  const server = createMcpServer(metier, {
    ...serverOptions(flags),
    onDiagnostic: (diagnostic) => err(context, diagnosticText(diagnostic, style)),
  });
  try {
    const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<void>();
    context.io.onInterrupt(interrupt);
    if (input) await Promise.race([server.serveStreams(input, toWritable(context)), interrupted]);
    else await listen(context, flags, server, where ?? {}, interrupted);
  } finally {
    await server.close();
    await metier.capabilities.close();
  }
};

async function listen(
  context: CliContext,
  { json }: McpFlags,
  server: SkillServer,
  where: McpListenOptions,
  interrupted: Promise<void>,
): Promise<void> {
  const { url } = await server.listen(where);
  if (json) outJson(context, { url });
  const how = where.token === undefined ? "" : ", with a token";
  err(context, `Serving skills at ${url}${how}. Press Ctrl-C to stop.`);
  await interrupted;
}

function requireInput({ io }: CliContext): Readable {
  const input = io.input?.();
  if (input !== undefined) return input;
  throw new UsageError("No client is connected: stdin is a terminal, or closed.", {
    hint: "Let a client start `metier mcp` (`metier mcp --print-config claude` prints its config), or use `--http`.",
  });
}

function toWritable({ io }: CliContext): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      io.stdout.write(chunk);
      done();
    },
  });
}

function printConfig(context: CliContext, flags: McpFlags, client: string): void {
  const { file, write } = requireClient(client);
  const text = write([...ownCommand(context.io), "mcp", ...servingWords(context, flags)]);
  if (!flags.json) err(context, `For ${file}:`);
  reply(context, flags, { client, file, text }, () => safeText(text));
}

/** The client may start it anywhere and as anyone, so the options are passed on, with absolute paths. */
function servingWords(context: CliContext, flags: McpFlags): readonly string[] {
  const cwd = workingDirectory(context, flags);
  const { preset, profile, path = [], user, chatType, chatId, model } = flags;
  const given = {
    home: homeFolder(context, flags),
    cwd: flags.cwd === undefined ? undefined : cwd,
    config: flags.config === undefined ? undefined : resolve(cwd, flags.config),
    preset,
    profile,
    user,
    "chat-type": chatType,
    "chat-id": chatId,
    model,
  };
  return [
    ...Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value])),
    ...path.flatMap((one) => ["--path", resolve(cwd, one)]),
    ...(flags.run ? ["--run"] : []),
  ];
}

/** Throws `UsageError` for options that can't be combined. */
function checkFlags({ http, port, host, allowHost, run, model, json, printConfig }: McpFlags): void {
  if (printConfig !== undefined && http) {
    throw new UsageError(
      "`--print-config` is for clients that start the server themselves; `--http` is for clients that connect to it.",
      {
        hint: "Leave out `--http`, or give the client the address that `metier mcp --http` prints.",
      },
    );
  }
  if (!http && (port ?? host ?? allowHost) !== undefined) {
    throw new UsageError("`--port`, `--host` and `--allow-host` work only with `--http`.");
  }
  if (!http && json && printConfig === undefined) {
    throw new UsageError("`--json` doesn't work here: the protocol needs stdout.", {
      hint: "Leave out `--json`, or serve with `--http`.",
    });
  }
  if (!run && model !== undefined) {
    throw new UsageError("`--model` works only with `--run`.");
  }
}

/** A client is nobody in particular unless the options say whom it acts for. */
function serverOptions({ user, chatType, chatId, run, model }: McpFlags): McpServerOptions {
  const caller: Caller = presentFields({ userId: user, chatType, chatId });
  return { caller, ...(run && { run: presentFields({ model }) }) };
}

function listenOptions(
  { port, host, allowHost }: McpFlags,
  { METIER_MCP_TOKEN: token }: Readonly<Record<string, string | undefined>>,
): McpListenOptions {
  if (token !== undefined && token.trim() === "") {
    throw new UsageError("`METIER_MCP_TOKEN` is empty.", {
      hint: "Set it to a long random value, or unset it to serve this machine without a token.",
    });
  }
  const hosts = allowHost?.map((name) => name.toLowerCase());
  return presentFields({ port: port === undefined ? undefined : readPort(port), host, token, hosts });
}

const LAST_PORT = 65_535;

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= LAST_PORT) return port;
  throw new UsageError(`\`--port\` is \`${text}\`; it must be a whole number up to ${LAST_PORT}.`);
}

/** The command line that serves, as words. */
type Words = readonly string[];

interface ClientConfig {
  /** The file it belongs in. */
  readonly file: string;
  write(words: Words): string;
}

const CLIENTS: Readonly<Record<string, ClientConfig>> = {
  claude: { file: ".mcp.json in the project", write: writeServers },
  codex: { file: "~/.codex/config.toml", write: writeToml },
  gemini: { file: "~/.gemini/settings.json", write: writeServers },
  opencode: {
    file: "opencode.json in the project",
    write: (words) => json({ mcp: { metier: { type: "local", command: words } } }),
  },
  qwen: { file: "~/.qwen/settings.json", write: writeServers },
  vscode: {
    file: ".vscode/mcp.json in the project",
    write: (words) => json({ servers: { metier: { type: "stdio", ...split(words) } } }),
  },
};

/** The clients that `--print-config` knows. */
export const PRINTED_CLIENTS: readonly string[] = Object.keys(CLIENTS);

/** Throws `UsageError` for an unknown client. */
function requireClient(client: string): ClientConfig {
  const names = Object.keys(CLIENTS);
  const known = Object.hasOwn(CLIENTS, client) ? CLIENTS[client] : undefined;
  if (known) return known;
  const near = nearestNames(client, names).map(showValue);
  const hint = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : `Use ${showNames(names)}.`;
  throw new UsageError(`\`--print-config\` doesn't know the client ${showValue(client)}.`, { hint });
}

function writeServers(words: Words): string {
  return json({ mcpServers: { metier: split(words) } });
}

function split([command = "", ...args]: Words): { readonly command: string; readonly args: Words } {
  return { command, args };
}

function json(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}

/**
 * JSON strings and lists of strings are valid TOML. Without `required`, Codex asks its model before the server is
 * ready.
 */
function writeToml(words: Words): string {
  const { command, args } = split(words);
  return `[mcp_servers.metier]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\nrequired = true`;
}
