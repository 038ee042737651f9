/** A caller is told only of skills it would not be refused, and no tool reads the files of the others to it. */
import { decideAccess } from "../invoke/checks/access.ts";
import type { Caller } from "../invoke/invocation.ts";
import type { RunHost } from "./run-host.ts";

export function hideRestricted(host: RunHost, caller: Caller = {}): RunHost {
  const skills: RunHost["library"]["skills"] = () => {
    const { config } = host.config();
    return host.library.skills().filter((skill) => decideAccess(skill, caller, config) === undefined);
  };
  return { ...host, library: { ...host.library, skills } };
}
