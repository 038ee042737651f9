/**
 * The operating system's keychain, through its own program: `secret-tool` on Linux, `security` on macOS. Secrets are
 * passed through standard input, never as an argument, which every user of the machine could see.
 */
import { createCommandFinder, type Environment } from "@metier/base/programs";
import { type CommandOutcome, runProcess } from "@metier/sandbox";

export interface Keychain {
  /** The name for messages. */
  readonly name: string;
  /** `undefined`: no such entry. Rejects if the keychain does not answer. */
  find(account: string): Promise<string | undefined>;
  /** Rejects if the keychain does not accept it. */
  store(account: string, secret: string): Promise<void>;
  remove(account: string): Promise<void>;
}

const SERVICE = "metier-vault";
/** It may ask the user to unlock it. */
const TIMEOUT_MS = 30_000;
/** The variables needed to reach this session's keychain, and nothing else from the environment. */
const PASSED = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "DBUS_SESSION_BUS_ADDRESS",
  "XDG_RUNTIME_DIR",
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "XAUTHORITY",
];

/** What to ask the system's program. Accounts and secrets contain no characters that need quoting. */
interface Dialect {
  readonly program: string;
  find(account: string): readonly string[];
  /** Whether the answer to `find` means that the entry does not exist. */
  isMissing(outcome: CommandOutcome): boolean;
  store(account: string, secret: string): { readonly args: readonly string[]; readonly stdin: string };
  remove(account: string): readonly string[];
}

const SECRET_TOOL: Dialect = {
  program: "secret-tool",
  find: (account) => ["lookup", "service", SERVICE, "account", account],
  isMissing: ({ exitCode, stderr }) => exitCode === 1 && stderr.trim() === "",
  store: (account, secret) => ({
    args: ["store", "--label=Metier vault", "service", SERVICE, "account", account],
    stdin: secret,
  }),
  remove: (account) => ["clear", "service", SERVICE, "account", account],
};

const SECURITY: Dialect = {
  program: "security",
  find: (account) => ["find-generic-password", "-s", SERVICE, "-a", account, "-w"],
  isMissing: ({ exitCode }) => exitCode === 44,
  store: (account, secret) => ({
    args: ["-i"],
    stdin: `add-generic-password -U -s ${SERVICE} -a ${account} -w ${secret}\n`,
  }),
  remove: (account) => ["delete-generic-password", "-s", SERVICE, "-a", account],
};

const DIALECTS: Partial<Record<NodeJS.Platform, Dialect>> = { linux: SECRET_TOOL, darwin: SECURITY };

/** `undefined` if the machine has none that we support. Runs nothing yet. */
export function findKeychain(
  environment: Environment,
  platform: NodeJS.Platform = process.platform,
): Keychain | undefined {
  const dialect = DIALECTS[platform];
  const program = dialect && createCommandFinder(environment, platform)(dialect.program);
  if (dialect === undefined || program === undefined) return undefined;
  const ask = (args: readonly string[], stdin?: string): Promise<CommandOutcome> =>
    runProcess({
      program,
      args,
      env: passedOn(environment),
      stdin,
      limits: { timeoutMs: TIMEOUT_MS, maxOutputBytes: 4096 },
    });
  const change = async (args: readonly string[], stdin?: string): Promise<void> => {
    const outcome = await ask(args, stdin);
    if (outcome.exitCode !== 0) throw describeFailure(dialect, outcome);
  };
  return {
    name: dialect.program,
    async find(account) {
      const outcome = await ask(dialect.find(account));
      if (dialect.isMissing(outcome)) return undefined;
      const found = outcome.stdout.trim();
      if (outcome.exitCode === 0 && found !== "") return found;
      throw describeFailure(dialect, outcome);
    },
    store(account, secret) {
      const { args, stdin } = dialect.store(account, secret);
      return change(args, stdin);
    },
    remove: (account) => change(dialect.remove(account)),
  };
}

function passedOn(environment: Environment): Readonly<Record<string, string>> {
  return Object.fromEntries(
    PASSED.flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Its output may contain the secret, so only its exit is reported. */
function describeFailure({ program }: Dialect, { ended, exitCode }: CommandOutcome): Error {
  const how = ended === "exited" ? `exited with ${exitCode}` : ended === "timeout" ? "did not answer" : ended;
  return new Error(`\`${program}\` ${how}`);
}
