/** What each backend is meant to contain. What it does besides is only reported. */
import type { SandboxBackend } from "@metier/sandbox";
import type { Attempt } from "./attempt.ts";

/** Attempts by the beginnings of their names. */
const NOT_PROMISED: Readonly<Record<SandboxBackend, readonly string[]>> = {
  bubblewrap: [],
  "just-bash": [],
  // It hides files and closes the network, but leaves a program its privileges, its keys and most system calls.
  "sandbox-runtime": [
    "gain-",
    "kernel-",
    "terminal-",
    "read-keys",
    "read-kernel-",
    "read-shared-memory-segment",
    "write-setting-",
    "write-any-setting",
    "write-setuid-",
    "write-file-capability",
    "take-memory-files",
  ],
  // No sandbox at all: what a command starts ends with it, and that is all.
  none: ["read-", "write-", "reach-", "gain-", "kernel-", "terminal-", "harm-", "take-"],
};

export function isPromised(backend: SandboxBackend, { id }: Attempt): boolean {
  return !NOT_PROMISED[backend].some((start) => id.startsWith(start));
}
