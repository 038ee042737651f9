/**
 * A bridge for tests, as a program: reads one request per line until there are no more, and answers each. What it is to do
 * wrong is its first argument. Run by Node as it is.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

interface Request {
  readonly id: string;
  readonly namespace: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

const [mode = "serve", detail = ""] = process.argv.slice(2);

const OPERATIONS = {
  echo: { name: "echo", description: "Gives back what it was asked.", requires_auth: false },
  send: { name: "send", description: "Sends.", mutating: true, idempotent: true },
};
const MAIL = { id: "mail.inbox", description: "Mail.", sensitive: true };

const DEFINITIONS = {
  list: [{ ...MAIL, operations: Object.values(OPERATIONS) }],
  map: { "mail.inbox": { ...MAIL, operations: OPERATIONS } },
};

type Outcome = { readonly result: unknown } | { readonly error: unknown } | undefined;

function perform({ method, params }: Request): Outcome | Promise<Outcome> {
  if (method === "definitions")
    return { result: { definitions: DEFINITIONS[detail === "map" ? "map" : "list"] } };
  if (method === "auth_begin")
    return {
      result: {
        auth_url: "https://mail.example/auth",
        flow_type: "device_code",
        user_code: "AB-12",
        seen: params,
      },
    };
  if (method === "auth_complete")
    return { result: { account_ref: "acc_1", metadata: { account_name: "Me", seen: params } } };
  if (method === "auth_poll")
    return { result: { status: "pending", retry_after_seconds: 3, flow_state: { seen: params } } };
  return invoke(String(params.operation), params.input_data as Readonly<Record<string, unknown>>, params);
}

function invoke(
  operation: string,
  input: Readonly<Record<string, unknown>>,
  params: Readonly<Record<string, unknown>>,
): Outcome | Promise<Outcome> {
  switch (operation) {
    case "echo":
      return { result: { output: { params, pid: process.pid } } };
    case "bare":
      return { result: { messages: 2 } };
    case "environment":
      return { result: { output: { ...process.env } } };
    case "fail":
      return { error: { code: "mail_quota_exceeded", message: `Too much mail. ${input.say ?? ""}` } };
    case "wait":
      return new Promise((settle) => setTimeout(() => settle({ result: { output: {} } }), Number(input.ms)));
    case "whoami":
      return readCaller(String(params.context_token));
    case "crash":
      process.stderr.write(
        `It broke.\nThe secret is ${process.env.METIER_CONTEXT_TOKEN_SECRET}.\nNo more ink.\n`,
      );
      process.exit(3);
      break;
    case "garbage":
      process.stdout.write("this is no JSON\n");
      return undefined;
    default:
      return undefined; // It never answers.
  }
}

async function readCaller(token: string): Promise<Outcome> {
  const { verifyBridgeToken } = await import("@metier/capabilities/broker");
  const secret = process.env.METIER_CONTEXT_TOKEN_SECRET ?? "";
  const read = await verifyBridgeToken(token, secret, { audience: "mail" });
  if (read.ok) return { result: { output: { user: read.value.userId, chat: read.value.chatId } } };
  return { error: { code: "capability_invalid_input", message: `context token: ${read.refusal.code}` } };
}

/** What stands in `detail`, with the id of the request in place of `$ID`. */
function answerRaw({ id }: Request): void {
  process.stdout.write(detail.replaceAll("$ID", id));
}

/** A process of `sleep` that would outlive us, for as many seconds as `detail` says. */
function fork(detached: boolean): void {
  spawn("sleep", [detail], { stdio: "inherit", detached }).unref();
}

const HOSTILE: Readonly<Record<string, (request: Request) => void>> = {
  raw: answerRaw,
  flood: () => {
    const chunk = "x".repeat(1024 * 1024);
    const write = (): void => void process.stdout.write(chunk, write);
    write();
  },
  "flood-errors": () => {
    const chunk = "y".repeat(1024 * 1024);
    const write = (): void => void process.stderr.write(chunk, write);
    write();
  },
  "hang-with-child": () => {
    process.on("SIGTERM", () => undefined);
    fork(true);
    setInterval(() => undefined, 1000);
  },
  "leave-child": ({ id }) => {
    fork(false);
    process.stdout.write(JSON.stringify({ version: 1, id, result: {} }), () => process.exit(0));
  },
  "exit-badly": () => {
    process.stderr.write("cannot open the mailbox\n");
    process.exitCode = Number(detail);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as Request;
  const hostile = HOSTILE[mode];
  if (hostile) hostile(request);
  else
    void Promise.resolve(perform(request)).then((outcome) => {
      if (outcome) process.stdout.write(`${JSON.stringify({ version: 1, id: request.id, ...outcome })}\n`);
    });
}
