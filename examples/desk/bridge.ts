/**
 * The program that Metier starts for `[capabilities.providers.desk]`. It speaks bridge-v1: each line on standard input is a
 * request, each line on standard output an answer, until the input ends. That serves one call or many.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { jwtVerify } from "jose";
import { deskRoot } from "./accounts.ts";
import { CALENDAR_OPERATIONS } from "./calendar.ts";
import { openDrawer } from "./drawer.ts";
import { MAIL_OPERATIONS } from "./mail.ts";
import { Fault, invalidInput, type JsonObject } from "./operation.ts";
import { DEFAULT_SERVER, openSignIn } from "./sign-in.ts";

const NAMESPACE = "desk";

const CAPABILITIES = new Map([
  ["desk.mail", { description: "A mailbox on this machine.", operations: MAIL_OPERATIONS }],
  ["desk.calendar", { description: "A calendar on this machine.", operations: CALENDAR_OPERATIONS }],
]);

interface Request {
  readonly version: number;
  readonly id: string;
  readonly namespace: string;
  readonly method: string;
  readonly params: JsonObject;
}

async function perform({ version, namespace, method, params }: Request): Promise<object> {
  if (version !== 1 || namespace !== NAMESPACE)
    throw invalidInput("This bridge speaks version 1, for the namespace `desk`.");
  if (method === "definitions") return { definitions: describeCapabilities(), forgets: true };
  const { userId, timezone } = await readCaller(params.context_token);
  const root = deskRoot();
  const signIn = openSignIn(root, process.env.DESK_SERVER || DEFAULT_SERVER, openDrawer(root, userId));
  const capability = String(params.capability_id);
  const accountRef = String(params.account_ref);
  switch (method) {
    case "auth_begin":
      return signIn.begin(capability);
    case "auth_poll":
      return signIn.poll(capability, String((params.flow_state as JsonObject).flow));
    case "auth_forget":
      await signIn.forget(String((params.credential_material as JsonObject).capability), accountRef);
      return {};
    case "invoke": {
      const operation = CAPABILITIES.get(capability)?.operations.get(String(params.operation));
      if (!operation) throw invalidInput(`\`${capability}\` has no operation \`${params.operation}\`.`);
      const account = await signIn.open(capability, accountRef);
      const key = String(params.idempotency_key ?? randomUUID());
      const call = { account, folder: join(root, account.id), timezone, key };
      return { output: await operation.perform(params.input_data as never, call) };
    }
    default:
      throw invalidInput(`This bridge does not know the method \`${method}\`.`);
  }
}

/**
 * Who asks. Only the token says so: it is signed with a key that Metier made for this bridge alone. Nothing else in a
 * request identifies the user, and nothing is done before the token is verified.
 */
async function readCaller(token: unknown): Promise<{ userId: string; timezone: string }> {
  const key = Buffer.from(process.env.METIER_CONTEXT_TOKEN_SECRET ?? "", "base64url");
  if (key.length < 32)
    throw invalidInput("METIER_CONTEXT_TOKEN_SECRET is missing: let Metier start this bridge.");
  const rules = {
    algorithms: ["HS256"],
    typ: "ASH_CONTEXT",
    audience: NAMESPACE,
    requiredClaims: ["sub", "exp"],
  };
  const verified = await jwtVerify(String(token), key, rules).catch(() => {
    throw invalidInput("The context token is not accepted.");
  });
  const { sub = "", timezone } = verified.payload;
  if (sub === "") throw invalidInput("The context token names no user.");
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return { userId: sub, timezone: /^[\w+/-]{1,60}$/.test(String(timezone ?? "")) ? String(timezone) : own };
}

function describeCapabilities(): readonly object[] {
  return [...CAPABILITIES].map(([id, { description, operations }]) => ({
    id,
    description,
    sensitive: true,
    operations: [...operations].map(([name, operation]) => ({
      name,
      description: operation.description,
      requires_auth: true,
      mutating: operation.mutating === true,
      // Every change of the desk can be repeated with the same key: it happens once.
      idempotent: operation.mutating === true,
      input_schema: operation.input,
    })),
  }));
}

/** For an internal error, only the code is returned: its message could contain a path, a subject or a token. */
function describeError(error: unknown): { code: string; message: string } {
  if (error instanceof Fault) return { code: error.code, message: error.message };
  const { code, name } = error as NodeJS.ErrnoException;
  return { code: "capability_backend_unavailable", message: `The desk failed (${code ?? name}).` };
}

async function answer(line: string): Promise<void> {
  const request = JSON.parse(line) as Request;
  const outcome = await perform(request).then(
    (result) => ({ result }),
    (error: unknown) => ({ error: describeError(error) }),
  );
  process.stdout.write(`${JSON.stringify({ version: 1, id: request.id, ...outcome })}\n`);
}

for await (const line of createInterface({ input: process.stdin })) {
  answer(line).catch(() => {
    process.stderr.write("desk: a line on standard input is not a request of bridge-v1\n");
    process.exitCode = 1;
  });
}
