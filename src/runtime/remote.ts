/**
 * What a `Metier` does with the MCP servers of its config: tells what is known of them, asks them again, approves their
 * skills, and fetches one when it is used. Nothing of it is loaded before it is asked.
 */

import type { Diagnostic } from "../foundation/diagnostic.ts";
import { UsageError } from "../foundation/errors.ts";
import type { Environment } from "../host/find-command.ts";
import type { Places } from "../host/places.ts";
import type { RemoteStatus } from "../remote/describe-servers.ts";
import type { ForgottenSkills } from "../remote/forget.ts";
import type { Readiness } from "../remote/ready-skill.ts";
import type { RemoteParts } from "../remote/refresh-server.ts";
import type { RemoteServer } from "../remote/remote-server.ts";
import type { RemoteOrigin, Skill } from "../skill/skill.ts";
import type { FileChange } from "../trust/content-identity.ts";
import type { MetierState } from "./load-state.ts";

export interface Remote {
  /** The servers that are switched on, by label. Asks none of them. */
  servers(): Promise<readonly RemoteStatus[]>;
  /** Asks servers (all, unless some are named) what they offer. One that fails is one answer of many. */
  refresh(labels?: readonly string[], options?: RemoteOptions): Promise<readonly RefreshOutcome[]>;
  /** Makes a skill known that the list of its server lacks, by the URI of its `SKILL.md`. */
  add(label: string, uri: string): Promise<AddOutcome>;
  /** Records that you trust a skill as its server declares it now; a change of any file ends it. */
  approve(name: string): Promise<ApprovedSkill>;
  /** Takes approvals back and removes what was fetched: of one skill, or of a server by its label. */
  forget(target: string): Promise<ForgottenSkills>;
  /** Fetches the files of a skill, if they are not here; any other skill is here. Throws `RemoteSkillError`. */
  load(name: string): Promise<FetchedSkill>;
}

export interface RemoteOptions {
  readonly signal?: AbortSignal;
}

export type RefreshOutcome = { readonly label: string } & (
  | {
      readonly ok: true;
      readonly skills: number;
      readonly refused: readonly Diagnostic[];
      /** URIs, against what was known before. */
      readonly added: readonly string[];
      readonly changed: readonly string[];
      readonly removed: readonly string[];
      /** Names of skills whose approval ended, because the server has changed them. */
      readonly revoked: readonly string[];
    }
  | { readonly ok: false; readonly diagnostic: Diagnostic }
);

export type AddOutcome =
  | { readonly ok: true; readonly name: string }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

export interface ApprovedSkill {
  readonly name: string;
  readonly server: string;
  readonly uri: string;
  readonly digest: string;
  readonly files: number;
  /** Against what was approved before, if anything was. */
  readonly changes: readonly FileChange[];
}

export interface FetchedSkill {
  readonly skill: Skill;
  readonly diagnostics: readonly Diagnostic[];
}

/** Asked before every use of a skill. */
export type ReadySkill = (skill: Skill, asksAgain: boolean) => Promise<Readiness>;

export interface RemoteInputs {
  current(): MetierState;
  reload(): Promise<unknown>;
  readonly places: Places;
  readonly environment: Environment;
}

const READY: Readiness = { kind: "ready", diagnostics: [] };

export function createRemote(inputs: RemoteInputs): { readonly remote: Remote; readonly ready: ReadySkill } {
  const ready: ReadySkill = async (skill, asksAgain) => {
    const { remote } = skill;
    if (remote === undefined) return READY;
    const { readySkill } = await import("../remote/ready-skill.ts");
    const server = (await serversOf(inputs)).find(({ label }) => label === remote.server);
    return readySkill({
      skill: { ...skill, remote },
      remote: server,
      parts: await partsOf(inputs),
      asksAgain,
    });
  };
  return { remote: { ...managing(inputs), load: (name) => load(name, inputs, ready) }, ready };
}

/** A second time where the server turned out to have changed it: then by what it declares now. */
async function load(
  name: string,
  { current, reload }: RemoteInputs,
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
  const { refuseLoad } = await import("../remote/refuse-load.ts");
  throw refuseLoad(skill, readiness);
}

function managing(inputs: RemoteInputs): Omit<Remote, "load"> {
  const { current, reload, places } = inputs;
  return {
    async servers() {
      const { describeServers } = await import("../remote/describe-servers.ts");
      const { config, grants } = current();
      return describeServers(config.config.mcp, places, grants);
    },
    async refresh(labels, { signal } = {}) {
      const { forgetOthers } = await import("../remote/refresh-server.ts");
      const servers = await serversOf(inputs);
      const wanted = labels === undefined ? servers : labels.map((label) => requireServer(servers, label));
      if (labels === undefined) forgetOthers(places, Object.keys(current().config.config.mcp.servers));
      const outcomes: RefreshOutcome[] = [];
      for (const server of wanted) outcomes.push(await refreshOne(server, inputs, signal));
      await reload();
      return outcomes;
    },
    async add(label, uri) {
      const { addUnlisted } = await import("../remote/refresh-server.ts");
      const server = requireServer(await serversOf(inputs), label);
      const said = await addUnlisted(server, uri, await partsOf(inputs));
      if (!said.ok) return said;
      await reload();
      const added = current().catalog.all.find(
        ({ remote }) => remote?.server === label && remote.uri === uri,
      );
      return { ok: true, name: added?.name ?? "" };
    },
    async approve(name) {
      const { skill, remote } = requireRemote(current(), name);
      const { approveRemote, remoteChanges } = await import("../trust/remote-trust.ts");
      const changes = remoteChanges(remote, current().grants);
      const { digest } = approveRemote(places, skill.name, remote);
      await reload();
      const { server, uri, files } = remote;
      return { name: skill.name, server, uri, digest, files: files.length, changes };
    },
    async forget(target) {
      const { forgetServer, forgetSkill } = await import("../remote/forget.ts");
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
  inputs: RemoteInputs,
  signal: AbortSignal | undefined,
): Promise<RefreshOutcome> {
  const { refreshServer } = await import("../remote/refresh-server.ts");
  const { nameSkills, reportRefused } = await import("../remote/find-remote.ts");
  const { remoteChanges } = await import("../trust/remote-trust.ts");
  const { label } = server;
  const said = await refreshServer(server, await partsOf(inputs), signal);
  if (!said.ok) return { label, ok: false, diagnostic: said.diagnostic };
  const { index, added, changed, removed } = said.value;
  const { skills } = nameSkills(inputs.places, label, index);
  const { grants } = inputs.current();
  return {
    label,
    ok: true,
    skills: skills.length,
    refused: reportRefused(inputs.places, label, index.refused),
    added,
    changed,
    removed,
    revoked: skills.filter(({ origin }) => remoteChanges(origin, grants).length > 0).map(({ name }) => name),
  };
}

async function serversOf({ current, places }: RemoteInputs): Promise<readonly RemoteServer[]> {
  const { remoteServers } = await import("../remote/remote-server.ts");
  return remoteServers(current().config.config.mcp, places).servers;
}

async function partsOf({ places, environment }: RemoteInputs): Promise<RemoteParts> {
  const { createSecretMachine } = await import("../run/prepare-parts.ts");
  return { places, environment, machine: createSecretMachine(environment) };
}

function requireServer(servers: readonly RemoteServer[], label: string): RemoteServer {
  const server = servers.find((known) => known.label === label);
  if (server) return server;
  const labels = servers.map((known) => `\`${known.label}\``);
  throw new UsageError(`There is no MCP server \`${label}\`.`, {
    hint:
      labels.length > 0
        ? `There are ${labels.join(", ")}.`
        : `Set \`command\` or \`url\` under \`[mcp.servers.${label}]\` in your config.`,
  });
}

function requireRemote(
  { catalog }: MetierState,
  name: string,
): { readonly skill: Skill; readonly remote: RemoteOrigin } {
  const skill = catalog.require(name);
  if (skill.remote) return { skill, remote: skill.remote };
  throw new UsageError(`\`${name}\` is no skill of an MCP server.`, {
    hint: `\`metier trust ${name}\` trusts a skill of this machine.`,
  });
}
