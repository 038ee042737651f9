/** MCP servers and their skills, for people. */
import type { RemoteStatus } from "../../remote/describe-servers.ts";
import type { ForgottenSkills } from "../../remote/forget.ts";
import type { ApprovedSkill, RefreshOutcome } from "../../runtime/remote.ts";
import { count, type Style, safeLine } from "./style.ts";

export function serversText(servers: readonly RemoteStatus[], style: Style): string {
  return servers.map((server) => serverLines(server, style).join("\n")).join("\n\n");
}

function serverLines(
  { label, server, listedAt, isCurrent, skills }: RemoteStatus,
  style: Style,
): readonly string[] {
  const asked =
    listedAt === undefined ? "never asked" : `asked ${listedAt}${isCurrent ? "" : ", not current any more"}`;
  return [
    `${style.bold(label)}  ${safeLine(server)}  ${style.dim(`(${asked})`)}`,
    ...skills.map(({ name, files, bytes, approved }) => {
      const state = approved ? style.green("approved") : style.yellow("not approved");
      return `  ${safeLine(name)}  ${count(files, "file")}, ${count(bytes, "byte")}  ${state}`;
    }),
  ];
}

export function refreshedText(outcomes: readonly RefreshOutcome[]): string {
  return outcomes.map((outcome) => refreshedLines(outcome).join("\n")).join("\n");
}

function refreshedLines(outcome: RefreshOutcome): readonly string[] {
  if (!outcome.ok) return [`${outcome.label}: failed; what was known of it stays.`];
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
  ];
}

export function approvedText({ name, server, files, digest, changes }: ApprovedSkill): string {
  const what = `Approved: ${name} of the MCP server ${server}, ${count(files, "file")} as it declares them now (${digest})`;
  return [what, ...changes.map(({ path, change }) => `  ${change}  ${path}`)].map(safeLine).join("\n");
}

export function forgottenText(target: string, { approvals, isRemoved }: ForgottenSkills): string {
  if (approvals.length === 0 && !isRemoved) return safeLine(`Nothing was kept of ${target}.`);
  const taken = approvals.length > 0 ? `; no longer approved: ${approvals.join(", ")}` : "";
  return safeLine(`Forgotten: ${target}${taken}`);
}
