import type { CommandOutcome, Sandbox, SandboxBackend, SandboxCommand } from "@metier/sandbox";
import { expect, test } from "vitest";
import { createConversationTrust } from "../../src/invoke/conversation-trust.ts";
import { holdToTrust } from "../../src/run/run-place.ts";

const RAN: CommandOutcome = {
  ended: "exited",
  exitCode: 0,
  stdout: "ran",
  stderr: "",
  droppedBytes: 0,
  durationMs: 1,
};
const WORLD = {
  cwd: "/w",
  workDir: "/w",
  readable: ["/w"],
  writable: ["/w"],
  masked: [],
  protectedPaths: [],
};
const COMMAND: SandboxCommand = {
  argv: ["true"],
  world: WORLD,
  env: {},
  limits: { timeoutMs: 1000, maxOutputBytes: 1000 },
};

function sandboxOf(backend: SandboxBackend): Sandbox {
  return { backend, runsPrograms: true, run: () => Promise.resolve(RAN) };
}

test("after an untrusted text, nothing runs unsandboxed or in an interpreted shell", async () => {
  for (const backend of ["none", "just-bash"] as const) {
    const conversation = createConversationTrust();
    const held = holdToTrust(sandboxOf(backend), conversation);
    expect(await held.run(COMMAND)).toBe(RAN);
    conversation.note("evil", "untrusted");
    const refused = await held.run(COMMAND);
    expect(refused).toMatchObject({ ended: "refused", stdout: "" });
    expect(refused.reason).toContain("The untrusted `evil`");
  }
});

test("a sandbox of the system holds whatever is in the conversation", async () => {
  const conversation = createConversationTrust("evil");
  for (const backend of ["bubblewrap", "sandbox-runtime"] as const) {
    const sandbox = sandboxOf(backend);
    expect(holdToTrust(sandbox, conversation)).toBe(sandbox);
  }
});
