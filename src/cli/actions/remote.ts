/** `metier remote`: the MCP servers of the config and their skills. */
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import { UsageError } from "../../foundation/errors.ts";
import { EXIT } from "../../foundation/exit-codes.ts";
import type { Metier } from "../../runtime/create-metier.ts";
import type { ApprovedSkill } from "../../runtime/remote.ts";
import { untilInterrupted } from "../capability/capability-action.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, endWith, err, out, outJson } from "../context.ts";
import { openMetier } from "../open-metier.ts";
import { diagnosticText } from "../output/diagnostics-text.ts";
import { approvedText, forgottenText, refreshedText, serversText } from "../output/remote-text.ts";
import { safeLine, styleFor } from "../output/style.ts";

interface RemoteRequest {
  readonly context: CliContext;
  readonly flags: CommonFlags;
  readonly metier: Metier;
  /** Behind the name of the action. */
  readonly words: readonly string[];
}

interface RemoteAction {
  readonly usage: string;
  /** How many words it takes. */
  readonly least: number;
  readonly most: number;
  run(request: RemoteRequest): Promise<void>;
}

const MANY = 1000;

const ACTIONS: Readonly<Record<string, RemoteAction>> = {
  list: { usage: "list", least: 0, most: 0, run: listServers },
  refresh: { usage: "refresh [LABEL …]", least: 0, most: MANY, run: refresh },
  add: { usage: "add LABEL URI", least: 2, most: 2, run: add },
  approve: { usage: "approve SKILL …", least: 1, most: MANY, run: approve },
  forget: { usage: "forget SKILL or LABEL", least: 1, most: 1, run: forget },
};

export async function run(
  context: CliContext,
  flags: CommonFlags,
  ...[name = "list", ...words]: readonly string[]
): Promise<void> {
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined) {
    const usages = Object.values(ACTIONS).map(({ usage }) => usage);
    throw new UsageError(`\`${name}\` is no action of \`metier remote\`.`, {
      hint: `Use ${usages.join(", ")}.`,
    });
  }
  if (words.length < action.least || words.length > action.most) {
    throw new UsageError(`Usage: \`metier remote ${action.usage}\`.`, {
      hint: "`metier remote` lists servers and skills.",
    });
  }
  await action.run({ context, flags, metier: await openMetier(context, flags), words });
}

async function listServers({ context, flags, metier }: RemoteRequest): Promise<void> {
  const servers = await metier.remote.servers();
  if (flags.json) {
    outJson(context, { servers, diagnostics: wrongServers(metier) });
    return;
  }
  if (servers.length === 0 && wrongServers(metier).length === 0) {
    err(context, "No MCP server is configured; `[mcp.servers.LABEL]` with a `command` or a `url` adds one.");
  }
  const style = styleFor(context.io.color);
  out(context, serversText(servers, style));
  const problems = [...wrongServers(metier), ...servers.flatMap(({ diagnostics }) => diagnostics)];
  err(context, problems.map((diagnostic) => diagnosticText(diagnostic, style)).join("\n"));
}

/** Those that the config has, but not as they must be. */
function wrongServers(metier: Metier): readonly Diagnostic[] {
  return metier.diagnostics().filter(({ code, message }) => {
    const isOfConfig = code.startsWith("config.") && message.startsWith("`mcp.servers.");
    return code === "remote.config" || isOfConfig;
  });
}

async function refresh({ context, flags, metier, words }: RemoteRequest): Promise<void> {
  const labels = words.length > 0 ? words : undefined;
  const servers = await untilInterrupted(context, (signal) => metier.remote.refresh(labels, { signal }));
  if (servers.some(({ ok }) => !ok)) endWith(context, EXIT.failed);
  if (flags.json) {
    outJson(context, { servers });
    return;
  }
  const style = styleFor(context.io.color);
  out(context, refreshedText(servers));
  const refused = servers.flatMap((server) => (server.ok ? server.refused : [server.diagnostic]));
  const problems = [...(words.length > 0 ? [] : wrongServers(metier)), ...refused];
  err(context, problems.map((diagnostic) => diagnosticText(diagnostic, style)).join("\n"));
}

async function add({ context, flags, metier, words: [label = "", uri = ""] }: RemoteRequest): Promise<void> {
  const added = await untilInterrupted(context, () => metier.remote.add(label, uri));
  if (!added.ok) endWith(context, added.diagnostic.code === "remote.unreachable" ? EXIT.failed : EXIT.no);
  if (flags.json) outJson(context, added);
  else if (added.ok)
    out(context, `Added: ${safeLine(added.name)}. It is untrusted until \`metier remote approve\`.`);
  else err(context, diagnosticText(added.diagnostic, styleFor(context.io.color)));
}

async function approve({ context, flags, metier, words }: RemoteRequest): Promise<void> {
  const approved: ApprovedSkill[] = [];
  for (const name of words) approved.push(await metier.remote.approve(name));
  if (flags.json) outJson(context, { approved });
  else out(context, approved.map(approvedText).join("\n"));
}

async function forget({ context, flags, metier, words: [target = ""] }: RemoteRequest): Promise<void> {
  const forgotten = await metier.remote.forget(target);
  if (flags.json) outJson(context, forgotten);
  else out(context, forgottenText(target, forgotten));
}
