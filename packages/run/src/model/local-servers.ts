/**
 * Model servers on this machine: their usual addresses, and the models they list. Only loopback is asked, each with a
 * short timeout; answers are bounded and checked.
 */
import { isLoopbackHost } from "@metier/base/net";
import {
  countShape,
  fitShape,
  listShape,
  mapShape,
  recordShape,
  type Shape,
  testedShape,
  textShape,
} from "@metier/base/shape";

/** A server that people run next to Metier. */
export interface ServerPlace {
  readonly name: string;
  /** Scheme, host and port. */
  readonly address: string;
  readonly speaks: "ollama" | "openai";
}

export interface ServedModel {
  readonly name: string;
  /** Absent if the server doesn't say. */
  readonly contextTokens?: number | undefined;
  /** Whether it can call tools; absent if the server doesn't say. */
  readonly tools?: boolean | undefined;
  readonly bytes?: number | undefined;
}

export interface LocalServer extends ServerPlace {
  /** The server's preferred model first. */
  readonly models: readonly ServedModel[];
}

const USUAL_PLACES: readonly ServerPlace[] = [
  { name: "Ollama", address: "http://127.0.0.1:11434", speaks: "ollama" },
  { name: "LM Studio", address: "http://127.0.0.1:1234", speaks: "openai" },
  { name: "llama.cpp", address: "http://127.0.0.1:8080", speaks: "openai" },
  { name: "vLLM", address: "http://127.0.0.1:8000", speaks: "openai" },
];

/** The usual places; Ollama where `OLLAMA_HOST` says, if that is this machine. */
export function listServerPlaces(
  environment: Readonly<Record<string, string | undefined>>,
): readonly ServerPlace[] {
  const moved = readOllamaHost(environment.OLLAMA_HOST ?? "");
  return USUAL_PLACES.map((place) =>
    place.speaks === "ollama" && moved !== undefined ? { ...place, address: moved } : place,
  );
}

/** `host`, `host:port` or a URL. A server that listens on all addresses is reached on loopback. */
function readOllamaHost(written: string): string | undefined {
  const text = written.trim();
  if (text === "") return undefined;
  const url = URL.parse(/^https?:\/\//.test(text) ? text : `http://${text}`);
  if (url === null) return undefined;
  const host = ["0.0.0.0", "[::]"].includes(url.hostname) ? "127.0.0.1" : url.hostname;
  if (!isLoopbackHost(host)) return undefined;
  const isBare = !/:\d+\/?$/.test(text) && url.port === "";
  return `${url.protocol}//${host}:${isBare ? "11434" : url.port || (url.protocol === "https:" ? "443" : "80")}`;
}

export interface ServerQuestion {
  /** Per answer. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

const TIMEOUT_MS = 1_500;
const MOST_MODELS = 50;

/** Those that answer; all are asked at once. */
export async function findServers(
  places: readonly ServerPlace[],
  question: ServerQuestion = {},
): Promise<readonly LocalServer[]> {
  const found = await Promise.all(places.map((place) => lookAt(place, question)));
  return found.filter((server) => server !== undefined);
}

async function lookAt(place: ServerPlace, question: ServerQuestion): Promise<LocalServer | undefined> {
  if (!isLoopbackHost(new URL(place.address).hostname)) return undefined;
  try {
    const models =
      place.speaks === "ollama" ? await listOllama(place, question) : await listOpenAi(place, question);
    return models && { ...place, models };
  } catch {
    return undefined; // Nobody is listening there, or something else is.
  }
}

const TAGS = recordShape<{ models: readonly { name: string; size?: number }[] }>({
  models: listShape(
    recordShape<{ name: string; size?: number }>({ name: textShape, size: countShape }, ["size"]),
  ),
});

async function listOllama(
  { address }: ServerPlace,
  question: ServerQuestion,
): Promise<readonly ServedModel[] | undefined> {
  const tags = fitShape(TAGS, await askJson(`${address}/api/tags`, question));
  if (tags === undefined) return undefined;
  const listed = tags.models.slice(0, MOST_MODELS);
  const models = await Promise.all(
    listed.map(async ({ name, size: bytes }): Promise<ServedModel> => {
      const shown = await showOllama(address, name, question).catch(() => undefined); // Its name is enough.
      return { name, bytes, ...shown };
    }),
  );
  const rank = ({ tools }: ServedModel): number => (tools === true ? 0 : tools === undefined ? 1 : 2);
  return models
    .filter(({ name }) => !/embed/i.test(name))
    .toSorted((a, b) => rank(a) - rank(b) || (b.bytes ?? 0) - (a.bytes ?? 0));
}

const anyShape: Shape<unknown> = (value) => value ?? null;
const SHOWN = recordShape<{
  model_info?: Readonly<Record<string, unknown>>;
  capabilities?: readonly string[];
}>({ model_info: mapShape(anyShape), capabilities: listShape(textShape) }, ["model_info", "capabilities"]);

async function showOllama(
  address: string,
  model: string,
  question: JsonQuestion,
): Promise<Pick<ServedModel, "contextTokens" | "tools"> | undefined> {
  const answer = await askJson(`${address}/api/show`, { ...question, body: { model } });
  const { model_info: facts = {}, capabilities } = fitShape(SHOWN, answer) ?? {};
  const [, length] = Object.entries(facts).find(([key]) => key.endsWith(".context_length")) ?? [];
  return { contextTokens: fitShape(positiveShape, length), tools: capabilities?.includes("tools") };
}

const positiveShape = testedShape(
  (value): value is number => typeof value === "number" && Number.isInteger(value) && value > 0,
  "a whole number of 1 or more",
);

/** The context length of one model, before it is used; `undefined`: Ollama doesn't say. */
export async function askOllama(
  address: string,
  model: string,
  { headers, signal }: Pick<JsonQuestion, "headers" | "signal">,
): Promise<number | undefined> {
  const shown = await showOllama(address, model, { headers, signal, timeoutMs: 10_000 });
  return shown?.contextTokens;
}

const LISTED = recordShape<{ data: readonly { id: string; max_model_len?: number }[] }>({
  data: listShape(
    recordShape<{ id: string; max_model_len?: number }>({ id: textShape, max_model_len: countShape }, [
      "max_model_len",
    ]),
  ),
});

async function listOpenAi(
  { address }: ServerPlace,
  question: ServerQuestion,
): Promise<readonly ServedModel[] | undefined> {
  const listed = fitShape(LISTED, await askJson(`${address}/v1/models`, question));
  return listed?.data
    .slice(0, MOST_MODELS)
    .filter(({ id }) => !/embed/i.test(id))
    .map(({ id: name, max_model_len: contextTokens }) => ({ name, contextTokens }));
}

interface JsonQuestion extends ServerQuestion {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: object;
}

const MOST_BYTES = 4 * 1024 * 1024;

/** `undefined` if the answer is too large, isn't JSON or is an error; rejects if nobody answers in time. */
async function askJson(
  url: string,
  { timeoutMs = TIMEOUT_MS, signal, headers, body }: JsonQuestion,
): Promise<unknown> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: { accept: "application/json", ...headers },
    ...(body && { body: JSON.stringify(body) }),
    redirect: "error",
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
  });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) return undefined;
    chunks.push(chunk);
  }
  if (!response.ok) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    return undefined; // A web page for people: another kind of server.
  }
}
