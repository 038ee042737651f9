/** The door `@metier/sandbox` for other packages. */
export { createBubblewrapCall } from "./sandbox/bubblewrap/bubblewrap.ts";
export { chooseSandbox, createUnsandboxed, explainAbsence, probeOrder } from "./sandbox/choose-sandbox.ts";
export { defineToolset, type FromSchema } from "./sandbox/inside/define-toolset.ts";
export { openKeyValues, StoreFault } from "./sandbox/inside/key-values.ts";
export {
  ANSWERS_DESCRIPTOR,
  BIN,
  type CallAnswer,
  type DescribedTool,
  INSIDE,
  type LoadedModule,
  MAX_LINE_BYTES,
  type ModuleExport,
  REQUESTS_DESCRIPTOR,
  TOOLSET_PROTOCOL,
  type ToolsetRequest,
} from "./sandbox/inside/protocol.ts";
export { createFrameReader, encodeFrame, MAX_FRAME_BYTES } from "./sandbox/inside/rpc.ts";
export { insideCommand, insideFile, insideFolder, seenCapabilitySocket } from "./sandbox/inside-programs.ts";
export { describeProbes, listInterpreters, type SandboxProbe } from "./sandbox/probe.ts";
export { cgroupHomes, groupPrefix } from "./sandbox/process/cgroup-homes.ts";
export { countsByNamespace } from "./sandbox/process/kernel-limits.ts";
export { createLineReader } from "./sandbox/process/process-output.ts";
export { findByEnvironment, killFound, listProcessTree } from "./sandbox/process/process-tree.ts";
export { runProcess } from "./sandbox/process/run-process.ts";
export { findArchivePackages, findInstalledPackages, findPrograms, NO_PROGRAMS } from "./sandbox/programs.ts";
export {
  type CommandOutcome,
  countCommands,
  quoteWord,
  refuseCommand,
  type Sandbox,
  type SandboxBackend,
  type SandboxCommand,
  type SandboxLimits,
} from "./sandbox/sandbox.ts";
export { createSandboxRuntime, findSandboxRuntime } from "./sandbox/sandbox-runtime/sandbox-runtime.ts";
export { type BuiltWorld, buildWorld, refreshWorld, type WorldRequest } from "./sandbox/world/build-world.ts";
export { PROTECTED_NAMES } from "./sandbox/world/private-places.ts";
export { accessTo, isSecretName, type PlacedFolder, type World } from "./sandbox/world/world.ts";
export {
  createFileInWorld,
  type FolderEntry,
  listFolder,
  openForReading,
  whyNotWritable,
  writeFileInWorld,
} from "./sandbox/world/world-path.ts";
