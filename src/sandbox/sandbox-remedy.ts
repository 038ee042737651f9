/** What to run on this machine to have a sandbox: the exact command where it is known. */
import { readFileSync } from "node:fs";
import type { CommandFinder } from "../host/find-command.ts";

/** Package manager → how it installs. The first one found is the machine's. */
const INSTALLERS: Readonly<Record<string, string>> = {
  "apt-get": "apt-get install -y",
  dnf: "dnf install -y",
  pacman: "pacman -S --noconfirm",
  zypper: "zypper install -y",
  apk: "apk add",
};

/** Program → its package, named alike by all of them. */
const PACKAGES: Readonly<Record<string, string>> = { bwrap: "bubblewrap", rg: "ripgrep" };

/** Kernel settings that keep an installed bubblewrap from starting: the value that does, and the one that helps. */
const KERNEL_SETTINGS = [
  { name: "kernel.apparmor_restrict_unprivileged_userns", bad: "1", good: "0" },
  { name: "kernel.unprivileged_userns_clone", bad: "0", good: "1" },
  { name: "user.max_user_namespaces", bad: "0", good: "15000" },
];

export function installCommand(
  find: CommandFinder,
  programs: readonly string[] = ["bwrap"],
): string | undefined {
  const installer = Object.entries(INSTALLERS).find(([program]) => find(program) !== undefined);
  const packages = programs.map((program) => PACKAGES[program] ?? program);
  return installer && asRoot([installer[1], ...packages].join(" "));
}

/** For a bubblewrap that is installed and does not start. */
export function kernelCommand(): string | undefined {
  const setting = KERNEL_SETTINGS.find(({ name, bad }) => readKernelSetting(name) === bad);
  return setting && asRoot(`sysctl -w ${setting.name}=${setting.good}`);
}

function readKernelSetting(name: string): string | undefined {
  try {
    return readFileSync(`/proc/sys/${name.replaceAll(".", "/")}`, "utf8").trim();
  } catch {
    return undefined; // This kernel has no such setting.
  }
}

function asRoot(command: string): string {
  return process.getuid?.() === 0 ? command : `sudo ${command}`;
}
