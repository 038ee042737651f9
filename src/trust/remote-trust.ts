/**
 * Whether a skill of an MCP server is trusted: only if the user approved exactly the files that the server declares. Where
 * its files are put makes no difference, nor does a grant for the same bytes from elsewhere.
 */
import type { Places } from "../host/places.ts";
import type { RemoteFile, RemoteOrigin, TrustDecision } from "../skill/skill.ts";
import { compareIdentity, digestFiles, type FileChange } from "./content-identity.ts";
import { describeChanges } from "./decide-trust.ts";
import { grantSkill } from "./grant-store.ts";
import type { Grants, SkillGrant } from "./grants.ts";
import type { IdentifiedFile } from "./identify-file.ts";

/** Where a grant says that it stood: no path, so no file on disk is ever meant by it. */
export function remoteLocation({ server, uri }: Pick<RemoteOrigin, "server" | "uri">): string {
  return `mcp:${server}:${uri}`;
}

/** What the files are, before any of them was fetched. */
export function identifyRemote(files: readonly RemoteFile[]): string {
  return digestFiles(toIdentified(files));
}

export function decideRemoteTrust(name: string, remote: RemoteOrigin, grants: Grants): TrustDecision {
  const grant = findGrant(remote, grants);
  const server = `the MCP server \`${remote.server}\``;
  const approve = `\`metier remote approve ${name}\``;
  if (grant === undefined) {
    return {
      level: "untrusted",
      reason: `It comes from ${server}, and is untrusted until ${approve} approves it.`,
    };
  }
  if (grant.digest === remote.digest) {
    return { level: "trusted", reason: `You approved it as ${server} declares it, and it is unchanged.` };
  }
  const what = describeChanges(changesSince(grant, remote));
  return {
    level: "untrusted",
    reason: `It is no longer what you approved of ${server}: ${what}. Look at it, then ${approve} approves it again.`,
  };
}

/** What the server has changed since the approval; nothing where there is none. */
export function remoteChanges(remote: RemoteOrigin, grants: Grants): readonly FileChange[] {
  const grant = findGrant(remote, grants);
  return grant ? changesSince(grant, remote) : [];
}

/** Records the user's approval of the files as they are declared; none has to be fetched for it. */
export function approveRemote(
  places: Pick<Places, "grantsFile">,
  name: string,
  remote: RemoteOrigin,
): SkillGrant {
  const files = toIdentified(remote.files).map((file) => ({ ...file, stamp: "" }));
  const identity = { digest: remote.digest, files };
  return grantSkill(places, { name, location: remoteLocation(remote), identity }).grant;
}

function changesSince({ files }: SkillGrant, remote: RemoteOrigin): readonly FileChange[] {
  return compareIdentity(files, toIdentified(remote.files));
}

function findGrant(remote: RemoteOrigin, { skills }: Grants): SkillGrant | undefined {
  const location = remoteLocation(remote);
  return skills.findLast((grant) => grant.location === location);
}

/** As they are written here: none can be executed, and none is a link. */
function toIdentified(files: readonly RemoteFile[]): readonly IdentifiedFile[] {
  return files
    .map(({ path, size, digest }) => ({ path, kind: "file", size, executable: false, digest }) as const)
    .sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
}
