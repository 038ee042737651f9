/** Which limits hold for commands on this machine, and by what: for `doctor`. */
import { type Controller, cgroupHomes } from "./cgroup-homes.ts";
import { countsByNamespace } from "./rlimits.ts";

export interface HeldLimits {
  /** What the kernel keeps each process to, by `prlimit`. */
  readonly prlimit: readonly string[];
  /** What the kernel keeps all processes of a command to, by a control group. */
  readonly cgroup: readonly Controller[];
  /** What Metier looks at several times a second, and ends a command for. */
  readonly watchdog: readonly string[];
}

export function findHeldLimits(hasPrlimit: boolean, isIsolated: boolean): HeldLimits {
  const isLinux = process.platform === "linux";
  return {
    prlimit: hasPrlimit
      ? ["file size", "memory", "processor time", ...(isIsolated && countsByNamespace() ? ["threads"] : [])]
      : [],
    cgroup: [...new Set(cgroupHomes().flatMap(({ controllers }) => controllers))],
    watchdog: [...(isLinux ? ["processes", "memory"] : []), "work folder"],
  };
}

export function describeHeldLimits({ prlimit, cgroup, watchdog }: HeldLimits): string {
  const name = (words: readonly string[]): string => words.join(", ");
  return [
    prlimit.length > 0 ? `prlimit (${name(prlimit)})` : "no `prlimit`, so one file or process can grow",
    cgroup.length > 0 ? `control group (${name(cgroup)})` : "no control group that Metier may divide",
    `watchdog (${name(watchdog)})`,
  ].join("; ");
}
