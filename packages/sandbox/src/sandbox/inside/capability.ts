/**
 * `metier-sb capability …`: asks the host to perform operations for the run, from inside its sandbox. A result is JSON
 * on standard output; an error is JSON on standard error, with exit code 1.
 */
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { type ParseArgsConfig, parseArgs } from "node:util";
import { askHost, type ClientFault, type RpcParams } from "./rpc.ts";

const USAGE = `capability list [--all]
capability invoke -c ID -o OPERATION [--input-json JSON]
    [--idempotency-key KEY] [--account ACCOUNT] [--plan-id PLAN]
capability auth begin -c ID [--account ACCOUNT]
capability auth list [-c ID] [--account ACCOUNT]
capability auth complete --flow-id FLOW (--code CODE | --callback-url URL)
capability auth complete-callback --callback-url URL
capability auth poll --flow-id FLOW [--timeout SECONDS] [--interval SECONDS]

  -c, --capability       its id, such as \`desk.mail\`
  -o, --operation        an operation from \`list\`
  -i, --input-json       a JSON object, or - to read it from standard input
  -k, --idempotency-key  calls with the same key make a change only once
  -a, --account          the linked account to use
  -p, --plan-id          the plan of a change that waits for confirmation
  -f, --flow-id          the sign-in, from \`begin\` or \`list\`
      --all              include capabilities that are not available here
      --timeout          how long to poll until the sign-in is complete
      --interval         time between polls (default: set by the host)
      --target-fingerprint  accepted but ignored: the host compares a change with its plan

Prints JSON. Exit code 0: success; 1: the host refused, with the error as JSON on standard error; 2: usage error.
`;

const FLAGS = {
  all: { type: "boolean" },
  capability: { type: "string", short: "c" },
  operation: { type: "string", short: "o" },
  "input-json": { type: "string", short: "i" },
  "idempotency-key": { type: "string", short: "k" },
  account: { type: "string", short: "a" },
  "plan-id": { type: "string", short: "p" },
  "target-fingerprint": { type: "string" },
  "flow-id": { type: "string", short: "f" },
  code: { type: "string" },
  "callback-url": { type: "string" },
  timeout: { type: "string" },
  interval: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const satisfies NonNullable<ParseArgsConfig["options"]>;

type Flag = keyof typeof FLAGS;
type Flags = Readonly<Partial<Record<Flag, string | boolean>>>;

/** Flag → the method parameter it sets; none if only this program uses it. */
type Given = Readonly<Partial<Record<Flag, string | undefined>>>;

interface Action {
  readonly method: string;
  readonly needs: Given;
  readonly takes: Given;
}

const ACTIONS: Readonly<Record<string, Action>> = {
  list: { method: "capability.list", needs: {}, takes: { all: "include_unavailable" } },
  invoke: {
    method: "capability.invoke",
    needs: { capability: "capability", operation: "operation" },
    takes: {
      "input-json": "input",
      account: "account_ref",
      "idempotency-key": "idempotency_key",
      "plan-id": "mutation_plan_id",
      "target-fingerprint": undefined,
    },
  },
  "auth begin": {
    method: "capability.auth.begin",
    needs: { capability: "capability" },
    takes: { account: "account_hint" },
  },
  "auth list": {
    method: "capability.auth.list",
    needs: {},
    takes: { capability: "capability", account: "account_hint" },
  },
  "auth complete": {
    method: "capability.auth.complete",
    needs: { "flow-id": "flow_id" },
    takes: { code: "code", "callback-url": "callback_url" },
  },
  "auth complete-callback": {
    method: "capability.auth.complete_callback",
    needs: { "callback-url": "callback_url" },
    takes: {},
  },
  "auth poll": {
    method: "capability.auth.poll",
    needs: { "flow-id": "flow_id" },
    takes: { timeout: undefined, interval: undefined },
  },
};

class UsageFault extends Error {}

const DONE = 0;
const NO = 1;
const WRONG = 2;

export async function runCapability(words: readonly string[]): Promise<number> {
  try {
    const { name, flags } = readWords(words);
    if (flags.help) return say(USAGE);
    const action = findAction(name, flags);
    const params = readParams(action, flags);
    const times = { timeout: readSeconds(flags, "timeout"), interval: readSeconds(flags, "interval") };
    return await perform(action.method, params, times);
  } catch (fault) {
    if (!(fault instanceof UsageFault)) throw fault;
    process.stderr.write(`capability: ${fault.message}\n\n${USAGE}`);
    return WRONG;
  }
}

function readWords(words: readonly string[]): { readonly name: string; readonly flags: Flags } {
  try {
    const { values, positionals } = parseArgs({ args: [...words], options: FLAGS, allowPositionals: true });
    return { name: positionals.join(" "), flags: values };
  } catch (error) {
    throw new UsageFault((error as Error).message); // For an unknown flag, or one without its value.
  }
}

function findAction(name: string, flags: Flags): Action {
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined) {
    const known = Object.keys(ACTIONS).map((each) => `\`${each}\``);
    const wrong = name === "" ? "the command is missing" : `unknown command \`${name}\``;
    throw new UsageFault(`${wrong}; the commands are ${known.join(", ")}`);
  }
  const missing = Object.keys(action.needs).find((flag) => flags[flag as Flag] === undefined);
  if (missing !== undefined) throw new UsageFault(`\`${name}\` needs \`--${missing}\``);
  const allowed = new Set(Object.keys({ ...action.needs, ...action.takes }));
  const idle = Object.keys(flags).find((flag) => !allowed.has(flag));
  if (idle !== undefined) throw new UsageFault(`\`${name}\` does not take \`--${idle}\``);
  if (name === "auth complete" && flags.code === undefined && flags["callback-url"] === undefined) {
    throw new UsageFault("`--code` or `--callback-url` is missing");
  }
  return action;
}

function readParams({ needs, takes }: Action, flags: Flags): RpcParams {
  const given = Object.entries({ ...needs, ...takes }).filter(([, param]) => param !== undefined);
  const read = (flag: string): unknown =>
    flag === "input-json" ? readInput(flags[flag] as string | undefined) : flags[flag as Flag];
  return Object.fromEntries(given.map(([flag, param]) => [param, read(flag)]));
}

function readInput(text = "{}"): RpcParams {
  let value: unknown;
  try {
    value = JSON.parse(text === "-" ? readFileSync(0, "utf8") : text);
  } catch (error) {
    throw new UsageFault(`\`--input-json\` is not valid JSON: ${(error as Error).message}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as RpcParams;
  throw new UsageFault("`--input-json` must be a JSON object, such as `{}`");
}

function readSeconds(flags: Flags, name: "timeout" | "interval"): number | undefined {
  const text = flags[name];
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (text !== "" && Number.isFinite(seconds) && seconds >= 0) return seconds;
  throw new UsageFault(`\`--${name}\` must be a number of seconds, not \`${text}\``);
}

interface Times {
  readonly timeout: number | undefined;
  readonly interval: number | undefined;
}

const SHORTEST_WAIT = 1;
const USUAL_WAIT = 5;

/** Once, or until the timeout: asks again only while it is pending. */
async function perform(method: string, params: RpcParams, { timeout = 0, interval }: Times): Promise<number> {
  const end = performance.now() + timeout * 1000;
  while (true) {
    const answer = await askHost(method, params);
    if (!answer.ok) return fail(answer.fault);
    const { result } = answer;
    if (result.status !== "pending" || timeout === 0) return say(showResult(method, result));
    const seconds = Math.max(SHORTEST_WAIT, interval ?? Number(result.retry_after_seconds ?? USUAL_WAIT));
    if (performance.now() + seconds * 1000 > end) return fail(stillPending(timeout));
    await wait(seconds * 1000);
  }
}

/** A list with all its schemas is long, and more than twice as long when indented: models would not see its end. */
function showResult(method: string, result: RpcParams): string {
  return `${JSON.stringify(result, undefined, method === "capability.list" ? 0 : 2)}\n`;
}

function stillPending(timeout: number): ClientFault {
  return {
    code: "still_pending",
    message: `The sign-in was not completed within ${timeout} seconds.`,
    hint: "You can continue: poll again until it expires.",
  };
}

function say(text: string): number {
  process.stdout.write(text);
  return DONE;
}

function fail(fault: ClientFault): number {
  process.stderr.write(`${JSON.stringify({ error: fault }, undefined, 2)}\n`);
  return NO;
}
