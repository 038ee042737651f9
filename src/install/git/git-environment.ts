/**
 * What git is started with, so that nothing but what we ask for happens: no config of the machine, no prompt, no hook, no
 * filter, no submodule, no transport besides the one that is wanted. Of the user's environment it gets what ssh, TLS and
 * credential helpers need.
 */
import { dirname, isAbsolute } from "node:path";
import type { Environment } from "../../host/find-command.ts";

/** Of the user's own, as they are. */
const PASSED_ON = [
  "HOME",
  "USER",
  "LOGNAME",
  "TMPDIR",
  "SSH_AUTH_SOCK",
  "XDG_CONFIG_HOME",
  "XDG_CACHE_HOME",
  "XDG_RUNTIME_DIR",
  "DBUS_SESSION_BUS_ADDRESS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "GIT_SSL_CAINFO",
  "GIT_SSL_CAPATH",
] as const;

/** Asks nobody, forwards nothing, runs nothing here; an unknown host key is a refusal. */
const SSH_COMMAND = [
  "ssh",
  "BatchMode=yes",
  "StrictHostKeyChecking=yes",
  "ClearAllForwardings=yes",
  "ForwardAgent=no",
  "ForwardX11=no",
  "PermitLocalCommand=no",
].join(" -o ");

/** What git does by itself and we do not want, or could be told to do by a config that slips through. */
const CLOSED_OFF: readonly string[] = [
  "core.hooksPath=/dev/null",
  "core.attributesFile=/dev/null",
  "core.fsmonitor=false",
  "core.askPass=",
  "core.bigFileThreshold=8m",
  "credential.interactive=false",
  "submodule.recurse=false",
  "fetch.recurseSubmodules=false",
  "fetch.unpackLimit=1",
  "fetch.writeCommitGraph=false",
  "fetch.negotiationAlgorithm=noop",
  "transfer.bundleURI=false",
  "protocol.version=2",
  "protocol.ext.allow=never",
  "http.sslVerify=true",
  "gc.auto=0",
  "maintenance.auto=false",
];

/** `protocols` is what `GIT_ALLOW_PROTOCOL` takes: `https`, `ssh`, `file`, or `none` for a command that reads only. */
export function gitEnvironment(environment: Environment, protocols: string): Record<string, string> {
  const passed = PASSED_ON.flatMap((name) => {
    const value = environment[name];
    return value === undefined || value === "" ? [] : [[name, value] as const];
  });
  const folders = (environment.PATH ?? "").split(":").filter((folder) => isAbsolute(folder));
  return {
    ...Object.fromEntries(passed),
    PATH: folders.join(":"),
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_NO_LAZY_FETCH: "1",
    GIT_LFS_SKIP_SMUDGE: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "",
    SSH_ASKPASS: "",
    SSH_ASKPASS_REQUIRE: "never",
    GCM_INTERACTIVE: "never",
    GIT_SSH_COMMAND: SSH_COMMAND,
    GIT_ALLOW_PROTOCOL: protocols,
  };
}

/** The same for a command that reads the config of the user and of the machine; it does nothing else. */
export function configEnvironment(environment: Environment, folder: string): Record<string, string> {
  const { GIT_CONFIG_NOSYSTEM: _, GIT_CONFIG_GLOBAL: __, ...closed } = gitEnvironment(environment, "none");
  const chosen = environment.GIT_CONFIG_GLOBAL;
  // Above the folder, no repository is looked for: its config is not the user's.
  return {
    ...closed,
    GIT_CEILING_DIRECTORIES: dirname(folder),
    ...(chosen && { GIT_CONFIG_GLOBAL: chosen }),
  };
}

/** As arguments, before the command's own. */
export function closeOff(more: readonly string[]): readonly string[] {
  return [...CLOSED_OFF, ...more].flatMap((setting) => ["-c", setting]);
}
