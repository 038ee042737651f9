/**
 * A `Metier`'s MCP servers: shows what is known about them, asks them again, approves their skills, and fetches a skill
 * when it is used. Nothing is loaded before the first call.
 */

import type { Diagnostic } from "@metier/base/diagnostic";
import { UsageError } from "@metier/base/errors";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import { forReader } from "@metier/base/text";
import type {
  ForgottenSkills,
  RemoteParts,
  RemoteReadiness,
  RemoteServer,
  RemoteStatus,
} from "@metier/install/remote";
import type { RemoteOrigin, Skill } from "@metier/skills";
import type { FileChange } from "@metier/skills/trust";
import type { MetierParts, MetierState } from "./load-state.ts";

/** The config's MCP servers that offer skills: what they have, and which skills you trust. */
export interface Remote {
  /** The enabled servers, by label. Contacts none of them. */
  servers(): Promise<readonly RemoteStatus[]>;
  /** Asks servers (all, or the named ones) what they offer. A server that fails doesn't affect the others. */
  refresh(labels?: readonly string[], options?: RemoteOptions): Promise<readonly RefreshOutcome[]>;
  /** Adds a skill that its server doesn't list, by the URI of its `SKILL.md`. */
  add(label: string, uri: string): Promise<AddOutcome>;
  /** Records that you trust a skill as its server declares it now; a change to any file ends that. */
  approve(name: string): Promise<ApprovedSkill>;
  /** Withdraws approvals and removes what was fetched: for one skill, or for a server by its label. */
  forget(target: string): Promise<ForgottenSkills>;
  /** Fetches a skill's files if they aren't on this machine. Throws `RemoteSkillError`. */
  load(name: string): Promise<FetchedSkill>;
}

/** Options of `remote.refresh`. */
export interface RemoteOptions {
  /** Aborting it stops the request. */
  readonly signal?: AbortSignal;
}

/** One server's answer to `refresh`: its skills compared with what was known, or the error. */
export type RefreshOutcome = { readonly label: string } & (
  | {
      readonly ok: true;
      /** How many of the server's skills were accepted. */
      readonly skills: number;
      /** Why others were not. */
      readonly refused: readonly Diagnostic[];
      /** URIs that are new. */
      readonly added: readonly string[];
      /** URIs of skills that the server changed. */
      readonly changed: readonly string[];
      /** URIs that the server no longer offers. */
      readonly removed: readonly string[];
      /** Names of skills whose approval ended because the server changed them. */
      readonly revoked: readonly string[];
    }
  | { readonly ok: false; readonly diagnostic: Diagnostic }
);

/** The result of `add`: the skill's name here, or why it wasn't accepted. */
export type AddOutcome =
  | { readonly ok: true; readonly name: string }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/** What `approve` recorded. */
export interface ApprovedSkill {
  /** The skill's name here. */
  readonly name: string;
  /** The label of its server in the config. */
  readonly server: string;
  /** The URI of its `SKILL.md`. */
  readonly uri: string;
  /** Digest of all its files as the server declares them: `sha256:` and hex digits. */
  readonly digest: string;
  /** How many files it has. */
  readonly files: number;
  /** Compared with the previous approval, if any. */
  readonly changes: readonly FileChange[];
}

/** A skill whose files are on this machine. */
export interface FetchedSkill {
  /** The skill as the catalog has it now. */
  readonly skill: Skill;
  /** Notes about the fetch; empty if there were none. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Called before every use of a skill. */
export type ReadySkill = (skill: Skill, asksAgain: boolean) => Promise<RemoteReadiness>;

const REFRESH: OptionKeys<RemoteOptions> = { signal: true };
const READY: RemoteReadiness = { kind: "ready", diagnostics: [] };

export function createRemote(inputs: MetierParts): { readonly remote: Remote; readonly ready: ReadySkill } {
  const ready: ReadySkill = async (skill, asksAgain) => {
    const { remote } = skill;
    if (remote === undefined) return READY;
    const { readySkill } = await import("@metier/install/remote");
    const server = (await serversOf(inputs)).find(({ label }) => label === remote.server);
    const parts = await partsOf(inputs);
    return readySkill({ skill: { ...skill, remote }, remote: server, parts, asksAgain });
  };
  return { remote: { ...managing(inputs), load: (name) => load(name, inputs, ready) }, ready };
}

/** Tries a second time if the server turns out to have changed it, with what it declares now. */
async function load(
  name: string,
  { current, reload }: MetierParts,
  ready: ReadySkill,
): Promise<FetchedSkill> {
  let skill = current().catalog.require(name);
  let readiness = await ready(skill, true);
  if (readiness.kind === "changed") {
    await reload();
    skill = current().catalog.require(name);
    readiness = await ready(skill, true);
  }
  if (readiness.kind === "ready") return { skill, diagnostics: readiness.diagnostics };
  const { refuseLoad } = await import("@metier/install/remote");
  throw refuseLoad(skill, readiness);
}

function managing(inputs: MetierParts): Omit<Remote, "load"> {
  const { current, reload, places } = inputs;
  return {
    async servers() {
      const { describeServers } = await import("@metier/install/remote");
      const { config, grants } = current();
      return describeServers(config.config.mcp, places, grants);
    },
    async refresh(labels, options = {}) {
      checkKeys("remote.refresh", options, REFRESH);
      const { signal } = options;
      const { forgetOthers } = await import("@metier/install/remote");
      const servers = await serversOf(inputs);
      const wanted = labels === undefined ? servers : labels.map((label) => requireServer(servers, label));
      if (labels === undefined) forgetOthers(places, Object.keys(current().config.config.mcp.servers));
      const outcomes: RefreshOutcome[] = [];
      for (const server of wanted) outcomes.push(await refreshOne(server, inputs, signal));
      await reload();
      return outcomes;
    },
    async add(label, uri) {
      const { addUnlisted } = await import("@metier/install/remote");
      const server = requireServer(await serversOf(inputs), label);
      const said = await addUnlisted(server, uri, await partsOf(inputs));
      if (!said.ok) return { ok: false, diagnostic: said.refusal };
      await reload();
      const added = current().catalog.all.find(
        ({ remote }) => remote?.server === label && remote.uri === uri,
      );
      return { ok: true, name: added?.name ?? "" };
    },
    async approve(name) {
      const { skill, remote } = requireRemote(current(), name);
      const { approveRemote, remoteChanges } = await import("@metier/skills/trust");
      const changes = remoteChanges(remote, current().grants);
      const { digest } = approveRemote(places, skill.name, remote);
      await reload();
      const { server, uri, files } = remote;
      return { name: skill.name, server, uri, digest, files: files.length, changes };
    },
    async forget(target) {
      const { forgetServer, forgetSkill } = await import("@metier/install/remote");
      const { config, catalog } = current();
      const skill = catalog.get(target);
      const isServer = Object.hasOwn(config.config.mcp.servers, target);
      const forgotten = isServer
        ? forgetServer(places, target)
        : forgetSkill(places, requireRemote(current(), skill?.name ?? target).remote);
      await reload();
      return forgotten;
    },
  };
}

async function refreshOne(
  server: RemoteServer,
  inputs: MetierParts,
  signal: AbortSignal | undefined,
): Promise<RefreshOutcome> {
  const { refreshServer } = await import("@metier/install/remote");
  const { nameSkills, reportRefused } = await import("@metier/install/remote");
  const { remoteChanges } = await import("@metier/skills/trust");
  const { label } = server;
  const said = await refreshServer(server, await partsOf(inputs), signal);
  if (!said.ok) return { label, ok: false, diagnostic: said.refusal };
  const { index, added, changed, removed } = said.value;
  const { skills } = nameSkills(inputs.places, label, index);
  const { grants } = inputs.current();
  const refused = reportRefused(inputs.places, label, index.refused);
  const ended = skills.filter(({ origin }) => remoteChanges(origin, grants).length > 0);
  const revoked = ended.map(({ name }) => name);
  return { label, ok: true, skills: skills.length, refused, added, changed, removed, revoked };
}

async function serversOf({ current, places }: MetierParts): Promise<readonly RemoteServer[]> {
  const { remoteServers } = await import("@metier/install/remote");
  return remoteServers(current().config.config.mcp, places).servers;
}

async function partsOf(parts: MetierParts): Promise<RemoteParts> {
  const { createSecretMachine } = await import("@metier/run/engine");
  const { places, environment } = parts;
  return { places, environment, machine: createSecretMachine({ places, environment, base: parts.cwd }) };
}

function requireServer(servers: readonly RemoteServer[], label: string): RemoteServer {
  const server = servers.find((known) => known.label === label);
  if (server) return server;
  const labels = servers.map((known) => `\`${known.label}\``);
  throw new UsageError(`There is no MCP server \`${label}\`.`, {
    hint:
      labels.length > 0
        ? `Known servers: ${labels.join(", ")}.`
        : `Set \`command\` or \`url\` under \`[mcp.servers.${label}]\` in your config.`,
  });
}

function requireRemote(
  { catalog }: MetierState,
  name: string,
): { readonly skill: Skill; readonly remote: RemoteOrigin } {
  const skill = catalog.require(name);
  if (skill.remote) return { skill, remote: skill.remote };
  throw new UsageError(`\`${name}\` is not a skill of an MCP server.`, {
    hint: forReader({
      command: `To trust a skill on this machine, use \`metier trust ${name}\`.`,
      program: "To trust a skill on this machine, use `trustedPaths`.",
    }),
  });
}
