/** `metier mcp`: serves until the client ends, or the user does. Over streams, standard output is the protocol's alone. */
import { resolve } from "node:path";
import { Writable } from "node:stream";
import { UsageError } from "../../foundation/errors.ts";
import type { SkillServer } from "../../mcp/mcp-server.ts";
import { askForTrust } from "../ask-for-trust.ts";
import { type CliContext, err, out, outJson } from "../context.ts";
import { configFor } from "../mcp/client-configs.ts";
import { checkFlags, listenOptions, type McpFlags, serverOptions } from "../mcp/mcp-flags.ts";
import { homeFolder, openMetier, workingDirectory } from "../open-metier.ts";
import { diagnosticText } from "../output/diagnostics-text.ts";
import { safeText, styleFor } from "../output/style.ts";

export async function run(context: CliContext, flags: McpFlags): Promise<void> {
  checkFlags(flags);
  if (flags.printConfig !== undefined) {
    printConfig(context, flags, flags.printConfig);
    return;
  }
  const where = flags.http ? listenOptions(flags, context.io.environment) : undefined;
  const input = flags.http ? undefined : requireInput(context);
  const style = styleFor(context.io.color);
  const metier = await askForTrust(context, flags, await openMetier(context, flags));
  // The SDK is large, and no other command needs it.
  const { createMcpServer } = await import("../../mcp/mcp-server.ts");
  const server = createMcpServer(metier, {
    ...serverOptions(flags),
    onDiagnostic: (diagnostic) => err(context, diagnosticText(diagnostic, style)),
  });
  try {
    const interrupted = untilInterrupted(context);
    if (input) await Promise.race([server.serveStreams(input, toWritable(context)), interrupted]);
    else await listen(context, flags, server, where ?? {}, interrupted);
  } finally {
    await server.close();
    await metier.capabilities.close();
  }
}

async function listen(
  context: CliContext,
  { json }: McpFlags,
  server: SkillServer,
  where: Parameters<SkillServer["listen"]>[0],
  interrupted: Promise<void>,
): Promise<void> {
  const { url } = await server.listen(where);
  if (json) outJson(context, { url });
  err(
    context,
    `Serving skills at ${url}${where?.token === undefined ? "" : ", with a token"}. Ctrl-C ends it.`,
  );
  await interrupted;
}

function requireInput({ io }: CliContext): NonNullable<ReturnType<NonNullable<CliContext["io"]["input"]>>> {
  const input = io.input?.();
  if (input !== undefined) return input;
  throw new UsageError("There is no client: standard input is a terminal, or closed.", {
    hint: "Let a client start `metier mcp` (`--print-config claude` prints what its config needs), or use `--http`.",
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

function untilInterrupted({ io }: CliContext): Promise<void> {
  return new Promise((resolve) => {
    io.onInterrupt(resolve);
  });
}

function printConfig(context: CliContext, flags: McpFlags, client: string): void {
  const words = ["metier", "mcp", ...servingWords(context, flags)];
  const printed = configFor(client, words);
  if (flags.json) outJson(context, printed);
  else {
    err(context, `For ${printed.file}:`);
    out(context, safeText(printed.text));
  }
}

/** The client may start it anywhere and as nobody, so what was said is passed on, with whole paths. */
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
