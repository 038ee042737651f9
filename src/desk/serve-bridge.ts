/**
 * The other side of `bridge-v1`: a line asks, a line answers, until there is no more input. So the same program serves a
 * host that starts it for one call, and one that keeps it. Who asks is said by a verified token, and by nothing else.
 */
import type { Readable, Writable } from "node:stream";
import type { CapabilityCaller, JsonObject } from "../capabilities/capability.ts";
import { type Answer, done, refuse } from "../capabilities/capability-fault.ts";
import type {
  CapabilityProvider,
  ProviderContext,
  ProviderVault,
} from "../capabilities/capability-provider.ts";
import { isJsonObject } from "../capabilities/json-object.ts";
import { BRIDGE_VERSION, MAX_ENVELOPE_BYTES } from "../capabilities/providers/bridge-envelope.ts";
import { verifyBridgeToken } from "../capabilities/tokens/bridge-tokens.ts";
import { createLineReader } from "../sandbox/read-lines.ts";
import { BRIDGE_CALLS, textOf } from "./bridge-calls.ts";

export interface BridgeParts {
  readonly provider: CapabilityProvider;
  /** With which tokens are verified. */
  readonly secret: string;
  openVault(userId: string): ProviderVault;
  readonly signal: AbortSignal;
}

export class BridgeFault extends Error {}

/** Ends with the input, when everything was answered. Rejects with `BridgeFault` when a line is no request at all. */
export function serveBridge(parts: BridgeParts, input: Readable, output: Writable): Promise<void> {
  return new Promise((resolve, reject) => {
    let open = 1; // The input; each request is one more.
    const close = (): void => {
      open -= 1;
      if (open === 0) resolve();
    };
    const fail = (fault: unknown): void => {
      input.destroy();
      reject(fault);
    };
    const takeLine = (line: string): void => {
      if (line.trim() === "") return;
      open += 1;
      answerLine(line, parts).then((answer) => {
        output.write(`${answer}\n`);
        close();
      }, fail);
    };
    const read = createLineReader(MAX_ENVELOPE_BYTES, takeLine, (bytes) =>
      fail(new BridgeFault(`A request has ${bytes} bytes or more; at most ${MAX_ENVELOPE_BYTES} are read.`)),
    );
    input.on("data", read);
    input.on("error", fail);
    input.on("end", () => {
      read(Buffer.from("\n")); // The last line may have no end.
      close();
    });
  });
}

async function answerLine(line: string, parts: BridgeParts): Promise<string> {
  const request = readRequest(line);
  const answer = await perform(request, parts).catch(failedInside);
  const { fault } = answer.ok ? {} : answer;
  // The protocol has one text for a fault; what to do belongs into it, too.
  const message = [fault?.message, fault?.hint].filter((text) => text !== undefined).join(" ");
  return JSON.stringify({
    version: BRIDGE_VERSION,
    id: request.id,
    ...(answer.ok ? { result: answer.value } : { error: { code: fault?.code, message } }),
  });
}

/** A fault of this program; what it says may hold anything, so only its kind is told. */
function failedInside(fault: unknown): Answer<never> {
  const { code, name } = fault as Partial<NodeJS.ErrnoException>;
  return refuse(
    "capability_backend_unavailable",
    `The provider failed inside (${code ?? name ?? "unknown"}).`,
  );
}

interface Request {
  readonly id: string;
  readonly version: unknown;
  readonly namespace: unknown;
  readonly method: unknown;
  readonly params: JsonObject;
}

function readRequest(line: string): Request {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    value = undefined; // Told below, together with what is JSON, but no request.
  }
  const { id, version, namespace, method, params = {} } = isJsonObject(value) ? value : {};
  if (typeof id !== "string" || !isJsonObject(params))
    throw new BridgeFault("A line is no request of `bridge-v1`: it has no `id`, or `params` is no object.");
  return { id, version, namespace, method, params: params as JsonObject };
}

async function perform(request: Request, parts: BridgeParts): Promise<Answer<JsonObject>> {
  const { provider } = parts;
  const { version, namespace, method, params } = request;
  if (version !== BRIDGE_VERSION)
    return refuse("capability_invalid_input", `This bridge speaks version ${BRIDGE_VERSION} alone.`);
  if (namespace !== provider.namespace)
    return refuse("capability_invalid_input", `This bridge is for the namespace \`${provider.namespace}\`.`);
  if (method === "definitions") {
    const answer = await provider.definitions();
    const forgets = provider.forget !== undefined;
    return answer.ok ? done({ definitions: answer.value, forgets } as JsonObject) : answer;
  }
  const call = BRIDGE_CALLS.get(String(method));
  if (!call) return refuse("capability_invalid_input", "This bridge has no such method.");
  const token = await verifyBridgeToken(textOf(params.context_token), parts.secret, {
    audience: provider.namespace,
  });
  if (!token.ok)
    return refuse(
      "capability_invalid_input",
      `The context token is not accepted (${token.code}). ${token.message}`,
    );
  return call(provider, params, contextOf(token.caller, parts));
}

function contextOf(caller: CapabilityCaller, { openVault, signal }: BridgeParts): ProviderContext {
  const token = async (): Promise<string> => {
    throw new BridgeFault("A bridge hands no token on.");
  };
  return { caller, token, vault: openVault(caller.userId), signal };
}
