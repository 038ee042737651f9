/** `metier remote`: the configured MCP servers and their skills. */
import type { Diagnostic } from "@metier/base/diagnostic";
import { EXIT, UsageError } from "@metier/base/errors";
import { safeLine } from "@metier/base/text";
import type { ForgottenSkills, RemoteStatus } from "@metier/install/remote";
import type { ApprovedSkill, Metier, RefreshOutcome } from "@metier/runtime";
import type { Action, CommonFlags } from "../commands/define.ts";
import { type CliContext, endWith, err, reply, requireAction, untilInterrupted } from "../context.ts";
import { openMetier } from "../open-metier.ts";
import { count, type Style } from "../output/style.ts";

interface RemoteRequest {
  readonly context: CliContext;
  readonly flags: CommonFlags;
  readonly metier: Metier;
  /** The words after the action's name. */
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

export const remoteAction: Action = async (context, flags, ...[name = "list", ...words]) => {
  const usages = Object.values(ACTIONS).map(({ usage }) => usage);
  const action = requireAction("remote", ACTIONS, name, usages.join(", "));
  if (words.length < action.least || words.length > action.most) {
    throw new UsageError(`Usage: \`metier remote ${action.usage}\`.`, {
      hint: "`metier remote` lists servers and skills.",
    });
  }
  await action.run({ context, flags, metier: await openMetier(context, flags), words });
};

async function listServers({ context, flags, metier }: RemoteRequest): Promise<void> {
  const servers = await metier.remote.servers();
  const wrong = wrongServers(metier);
  if (!flags.json && servers.length === 0 && wrong.length === 0) {
    err(
      context,
      "No MCP server is configured. Add `[mcp.servers.LABEL]` with a `command` or a `url` to your config.",
    );
  }
  const problems = [...wrong, ...servers.flatMap(({ diagnostics }) => diagnostics)];
  const text = (style: Style): string => servers.map((server) => serverText(server, style)).join("\n\n");
  reply(context, flags, { servers, diagnostics: wrong }, text, problems);
}

/** Servers with an invalid entry in the config. */
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
  const refused = servers.flatMap((server) => (server.ok ? server.refused : [server.diagnostic]));
  const problems = [...(words.length > 0 ? [] : wrongServers(metier)), ...refused];
  reply(context, flags, { servers }, () => servers.map(refreshedText).join("\n"), problems);
}

async function add({ context, flags, metier, words: [label = "", uri = ""] }: RemoteRequest): Promise<void> {
  const added = await untilInterrupted(context, () => metier.remote.add(label, uri));
  if (!added.ok) endWith(context, added.diagnostic.code === "remote.unreachable" ? EXIT.failed : EXIT.no);
  const text = added.ok
    ? `Added ${safeLine(added.name)}. It is untrusted until you run \`metier remote approve\`.`
    : "";
  reply(context, flags, added, () => text, added.ok ? [] : [added.diagnostic]);
}

async function approve({ context, flags, metier, words }: RemoteRequest): Promise<void> {
  const approved: ApprovedSkill[] = [];
  for (const name of words) approved.push(await metier.remote.approve(name));
  reply(context, flags, { approved }, () => approved.map(approvedText).join("\n"));
}

async function forget({ context, flags, metier, words: [target = ""] }: RemoteRequest): Promise<void> {
  const forgotten = await metier.remote.forget(target);
  reply(context, flags, forgotten, () => forgottenText(target, forgotten));
}

function serverText({ label, server, listedAt, isCurrent, skills }: RemoteStatus, style: Style): string {
  const asked =
    listedAt === undefined ? "never refreshed" : `refreshed ${listedAt}${isCurrent ? "" : ", out of date"}`;
  return [
    `${style.bold(label)}  ${safeLine(server)}  ${style.dim(`(${asked})`)}`,
    ...skills.map(({ name, files, bytes, approved }) => {
      const state = approved ? style.green("approved") : style.yellow("not approved");
      return `  ${safeLine(name)}  ${count(files, "file")}, ${count(bytes, "byte")}  ${state}`;
    }),
  ].join("\n");
}

function refreshedText(outcome: RefreshOutcome): string {
  if (!outcome.ok) return `${outcome.label}: failed; earlier results are kept.`;
  const { label, skills, added, changed, removed, revoked, refused } = outcome;
  const parts = [
    `${added.length} new`,
    `${changed.length} changed`,
    `${removed.length} gone`,
    `${refused.length} refused`,
  ];
  return [
    `${label}: ${count(skills, "skill")} (${parts.join(", ")}).`,
    ...changed.map((uri) => safeLine(`  changed  ${uri}`)),
    ...revoked.map((name) => safeLine(`  no longer approved  ${name}`)),
  ].join("\n");
}

function approvedText({ name, server, files, digest, changes }: ApprovedSkill): string {
  const what = `Approved ${name} from the MCP server ${server}: ${count(files, "file")} as declared now (${digest})`;
  return [what, ...changes.map(({ path, change }) => `  ${change}  ${path}`)].map(safeLine).join("\n");
}

function forgottenText(target: string, { approvals, isRemoved }: ForgottenSkills): string {
  if (approvals.length === 0 && !isRemoved) return safeLine(`Nothing to forget for ${target}.`);
  const taken = approvals.length > 0 ? `; no longer approved: ${approvals.join(", ")}` : "";
  return safeLine(`Forgotten: ${target}${taken}`);
}
