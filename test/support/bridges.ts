/** Providers over real programs for tests, wired as a config wires them, and a context to call them with. */
import { fileURLToPath } from "node:url";
import type { JsonObject } from "@metier/base/json";
import { createCommandFinder } from "@metier/base/programs";
import type {
  Answer,
  CapabilityCaller,
  CapabilityFault,
  CapabilityProvider,
  ProviderContext,
  ProviderInvocation,
  WiredProvider,
  WireRequest,
} from "@metier/capabilities";
import { wireProviders } from "@metier/capabilities/broker";
import type { SecretMachine } from "@metier/sandbox/secrets";
import type { CapabilityProviderConfig } from "@metier/skills/config";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "./temporary.ts";

export const ALICE: CapabilityCaller = {
  userId: "alice",
  chatId: "42",
  chatType: "private",
  chatTitle: "Alice at home",
};

/** The words that start a program beside this file. */
export function supportProgram(file: string, ...args: readonly string[]): readonly string[] {
  const path = fileURLToPath(new URL(file, import.meta.url));
  return file.endsWith(".ts")
    ? [process.execPath, "--no-warnings", path, ...args]
    : ["python3", path, ...args];
}

export function bridgeCommand(...args: readonly string[]): readonly string[] {
  return supportProgram("./bridge-program.ts", ...args);
}

export const MACHINE: SecretMachine = {
  runCommand: async ([, text = ""]) => ({ stdout: `${text}\n` }),
  findCommand: (name) => createCommandFinder(process.env)(name),
  platform: "linux",
};

export interface OpenedProvider {
  readonly wired: WiredProvider;
  readonly provider: CapabilityProvider;
  context(signal?: AbortSignal): ProviderContext;
  /** An operation of `mail.inbox`. */
  invoke(
    operation: string,
    input?: JsonObject,
    more?: Partial<ProviderInvocation>,
  ): Promise<Answer<JsonObject>>;
}

export function wire(
  providers: Readonly<Record<string, CapabilityProviderConfig>>,
  more: Partial<Omit<WireRequest, "config">> & {
    readonly settings?: WireRequest["config"]["skills"]["settings"];
  } = {},
): readonly WiredProvider[] {
  const { settings = {}, ...request } = more;
  return wireProviders({
    places: { home: temporaryFolder() },
    environment: process.env,
    machine: MACHINE,
    ...request,
    config: { skills: { settings }, capabilities: { providers } },
  });
}

/** One provider named `mail`, closed when the test ends. */
export function openProvider(
  config: CapabilityProviderConfig,
  more: Parameters<typeof wire>[1] = {},
): OpenedProvider {
  const [wired] = wire({ mail: config }, more);
  const { provider, tokens } = wired ?? {};
  if (!(wired && provider)) throw new Error(`It cannot be wired: ${wired?.fault?.message}`);
  onTestFinished(async () => provider.close?.());
  const context = (signal: AbortSignal = new AbortController().signal): ProviderContext => ({
    caller: ALICE,
    token: () => tokens?.mint(ALICE) ?? Promise.resolve("no token"),
    vault: NO_VAULT,
    signal,
  });
  return {
    wired,
    provider,
    context,
    invoke: (operation, input = {}, call = {}) =>
      provider.invoke({ capabilityId: "mail.inbox", operation, input, ...call }, context()),
  };
}

const NO_VAULT: ProviderContext["vault"] = {
  put: () => Promise.reject(new Error("A bridge keeps its own secrets.")),
  get: () => Promise.resolve(undefined),
  replace: () => Promise.resolve(false),
  delete: () => Promise.resolve(false),
};

export function resultOf<Value>(answer: Answer<Value>): Value {
  if (answer.ok) return answer.value;
  throw new Error(`It was refused: ${answer.fault.code}: ${answer.fault.message}`);
}

export function faultOf(answer: Answer<unknown>): CapabilityFault {
  if (!answer.ok) return answer.fault;
  throw new Error(`It was performed: ${JSON.stringify(answer.value)}`);
}
