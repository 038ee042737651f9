/** What the options of `metier mcp` say about the server. */
import { UsageError } from "../../foundation/errors.ts";
import type { Caller } from "../../invoke/invocation.ts";
import type { McpListenOptions } from "../../mcp/http/http-options.ts";
import type { McpServerOptions } from "../../mcp/mcp-options.ts";
import type { CallerFlags } from "../caller-flags.ts";
import type { CommonFlags } from "../common-flags.ts";

export interface McpFlags extends CommonFlags, CallerFlags {
  readonly http: boolean;
  readonly port?: string;
  readonly host?: string;
  readonly allowHost?: readonly string[];
  readonly run: boolean;
  readonly model?: string;
  readonly printConfig?: string;
}

/** Throws `UsageError` for options that do not go together. */
export function checkFlags({ http, port, host, allowHost, run, model, json, printConfig }: McpFlags): void {
  if (printConfig !== undefined && http) {
    throw new UsageError(
      "`--print-config` is for clients that start the server, and `--http` serves others.",
      {
        hint: "Leave `--http` out; a client of a server over HTTP is given the address that `metier mcp --http` says.",
      },
    );
  }
  if (!http && (port ?? host ?? allowHost) !== undefined) {
    throw new UsageError(
      "`--port`, `--host` and `--allow-host` say where to listen, which is done with `--http` only.",
    );
  }
  if (!http && json && printConfig === undefined) {
    throw new UsageError("`--json` and the protocol cannot both have standard output.", {
      hint: "Leave `--json` out, or serve with `--http`.",
    });
  }
  if (!run && model !== undefined) {
    throw new UsageError("`--model` says which model runs skills, which is done with `--run` only.");
  }
}

/** A client is nobody in particular, unless the options say who it speaks for. */
export function serverOptions({ user, chatType, chatId, run, model }: McpFlags): McpServerOptions {
  const caller: Caller = {
    ...(user !== undefined && { userId: user }),
    ...(chatType !== undefined && { chatType }),
    ...(chatId !== undefined && { chatId }),
  };
  return { caller, ...(run && { run: model === undefined ? {} : { model } }) };
}

export function listenOptions(
  { port, host, allowHost }: McpFlags,
  { METIER_MCP_TOKEN: token }: Readonly<Record<string, string | undefined>>,
): McpListenOptions {
  if (token !== undefined && token.trim() === "") {
    throw new UsageError("`METIER_MCP_TOKEN` is set to nothing.", {
      hint: "Give it a long random value, or unset it to serve this machine without a token.",
    });
  }
  return {
    ...(port !== undefined && { port: readPort(port) }),
    ...(host !== undefined && { host }),
    ...(allowHost !== undefined && { hosts: allowHost.map((name) => name.toLowerCase()) }),
    ...(token !== undefined && { token }),
  };
}

const LAST_PORT = 65_535;

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= LAST_PORT) return port;
  throw new UsageError(`\`--port\` is \`${text}\`; it must be a whole number up to ${LAST_PORT}.`);
}
