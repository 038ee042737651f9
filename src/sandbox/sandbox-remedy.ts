/** What to run on this machine to have a sandbox: the exact command where it is known. */
import { readFileSync } from "node:fs";
import type { CommandFinder } from "../host/find-command.ts";

/** Package manager → how it installs bubblewrap. The first one found is the machine's. */
const INSTALLERS: Readonly<Record<string, string>> = {
  "apt-get": "apt-get install -y bubblewrap",
  dnf: "dnf install -y bubblewrap",
  pacman: "pacman -S --noconfirm bubblewrap",
  zypper: "zypper install -y bubblewrap",
  apk: "apk add bubblewrap",
};

/** Kernel settings that keep an installed bubblewrap from starting: the value that does, and the one that helps. */
const KERNEL_SETTINGS = [
  { name: "kernel.apparmor_restrict_unprivileged_userns", bad: "1", good: "0" },
  { name: "kernel.unprivileged_userns_clone", bad: "0", good: "1" },
  { name: "user.max_user_namespaces", bad: "0", good: "15000" },
];

export function installCommand(find: CommandFinder): string | undefined {
  const installer = Object.entries(INSTALLERS).find(([program]) => find(program) !== undefined);
  return installer && asRoot(installer[1]);
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
