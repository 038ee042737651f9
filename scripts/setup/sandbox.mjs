/** Whether programs can be sandboxed on this machine, and how to enable it. Plain Node 20. */
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { runQuietly, say } from "./repository.mjs";

const PROBE = ["--unshare-all", "--ro-bind", "/", "/", "true"];

/** Package manager → how it installs bubblewrap. The first one found is used. */
const INSTALLERS = {
  "apt-get": "apt-get install -y bubblewrap",
  dnf: "dnf install -y bubblewrap",
  pacman: "pacman -S --noconfirm bubblewrap",
  zypper: "zypper install -y bubblewrap",
  apk: "apk add bubblewrap",
};

/** Kernel settings that stop an installed bubblewrap from starting: the bad value, and the good one. */
const KERNEL_SETTINGS = [
  { name: "kernel.apparmor_restrict_unprivileged_userns", bad: "1", good: "0" },
  { name: "kernel.unprivileged_userns_clone", bad: "0", good: "1" },
  { name: "user.max_user_namespaces", bad: "0", good: "15000" },
];

/**
 * @typedef {object} SandboxStatus
 * @property {boolean} available a sandboxed program really starts
 * @property {string} description what is available, or what is missing
 * @property {string | undefined} command what to run to get one; unknown if undefined
 */

/** Tries a sandboxed `true`. @returns {SandboxStatus} */
export function sandboxStatus() {
  if (process.platform !== "linux") {
    return {
      available: false,
      description: `bubblewrap is not available for ${process.platform}`,
      command: undefined,
    };
  }
  if (!findOnPath("bwrap")) {
    return { available: false, description: "bubblewrap is not installed", command: installCommand() };
  }
  const probe = runQuietly("bwrap", PROBE);
  if (probe.ok) return { available: true, description: "bubblewrap", command: undefined };
  const description = `bubblewrap is installed but does not start (${probe.output.split("\n")[0]})`;
  return { available: false, description, command: kernelCommand() };
}

/** The same in one line: what is available, or what is missing and the command that helps. */
export function sandboxLine() {
  const { available, description, command } = sandboxStatus();
  if (available) return `sandbox: ${description}`;
  return `sandbox: none, ${description}${command ? `; run \`${command}\`` : ""}`;
}

/** Installs bubblewrap if that needs no question: as root on Debian-like systems. Never fails a setup. */
export function installSandbox() {
  if (process.platform !== "linux" || findOnPath("bwrap")) return;
  if (!isRoot() || !existsSync("/etc/debian_version") || !findOnPath("apt-get")) return;
  say("installing bubblewrap (apt-get)");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const aptGet = (/** @type {string[]} */ ...args) =>
    runQuietly("apt-get", ["-qq", ...args], { env, timeout: 300_000 });
  const install = () => aptGet("install", "-y", "--no-install-recommends", "bubblewrap");
  if (install().ok) return;
  const update = aptGet("update");
  const result = update.ok ? install() : update;
  if (!result.ok) say(`can't install bubblewrap: ${result.output.split("\n").at(-1)}`);
}

function installCommand() {
  const installer = Object.entries(INSTALLERS).find(([program]) => findOnPath(program));
  return installer && asRoot(installer[1]);
}

function kernelCommand() {
  const setting = KERNEL_SETTINGS.find(({ name, bad }) => readKernelSetting(name) === bad);
  return setting && asRoot(`sysctl -w ${setting.name}=${setting.good}`);
}

/** @param {string} name */
function readKernelSetting(name) {
  try {
    return readFileSync(`/proc/sys/${name.replaceAll(".", "/")}`, "utf8").trim();
  } catch {
    return undefined; // this kernel has no such setting
  }
}

/** @param {string} command */
function asRoot(command) {
  return isRoot() ? command : `sudo ${command}`;
}

function isRoot() {
  return process.getuid?.() === 0;
}

/** @param {string} program */
function findOnPath(program) {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false; // not in this folder
    }
  });
}
