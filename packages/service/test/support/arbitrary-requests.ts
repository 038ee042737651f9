/** Requests that are nearly what a route takes, and some that are nothing of the kind. */
import type { JsonObject } from "@metier/base/json";
import fc from "fast-check";
import type { ServiceRoute } from "../../src/http/route.ts";

/** By the end of its path: a body that a route takes. */
export const SOUND: readonly (readonly [path: RegExp, body: JsonObject])[] = [
  [
    /^\/anthropic.*agents(\/\{name\})?$/,
    { name: "x", model: "default", system: "Do.", skills: [], tools: [] },
  ],
  [/^\/anthropic.*sessions$/, { agent: "writer", environment_id: "env_metier", title: "x" }],
  [/^\/openai.*responses$/, { model: "skill/greet", input: "say 1", stream: false, background: true }],
  [/^\/anthropic.*events$/, { events: [{ type: "user.message", content: "say 1" }] }],
  [/^\/a2a$/, { jsonrpc: "2.0", id: 1, method: "ListTasks", params: { pageSize: 5 } }],
  [/^\/ag-ui/, { threadId: "x", runId: "x", messages: [{ id: "1", role: "user", content: "say 1" }] }],
  [/^\/ai-sdk/, { id: "x", messages: [{ role: "user", parts: [{ type: "text", text: "say 1" }] }] }],
  [/runs$/, { skill: "greet", message: "say 1", arguments: ["a"], input: { a: 1 }, approve: "allow" }],
  [/approvals\/\{id\}$/, { decision: "approve", note: "x", input: {} }],
  [/questions\/\{id\}$/, { answer: "blue" }],
  [/messages$/, { message: "say 1", approve: "ask" }],
  [/sessions$/, { skill: "greet", agent: "writer", title: "x" }],
  [/tenants$/, { name: "acme" }],
  [/keys$/, { name: "x", role: "viewer", expiresAt: "2030-01-01", userId: "ada", tenant: "default" }],
  [/agents$/, { name: "x", instructions: "Do.", model: "m", skills: ["greet"], limits: { maxTokens: 1 } }],
  [/agents\/\{name\}\/versions$/, { instructions: "Do it again." }],
  [/schedules$/, { name: "x", cron: "0 0 * * *", timeZone: "UTC", catchUp: "all", run: { skill: "greet" } }],
  [/schedules\/\{id\}$/, { isPaused: true }],
  [/secrets\/\{name\}$/, { value: "a secret" }],
  [/providers\/\{name\}$/, { kind: "openai", secret: "token", models: ["m"] }],
  [/tenants\/\{id\}\/skills$/, { name: "greet" }],
  [/tenants\/\{id\}\/models$/, { usesHomeModels: true }],
  [/tenants\/\{id\}\/quotas$/, { startsPerMinute: 1_000, openRuns: 1_000 }],
  [/v1\/quotas$/, { eachUser: { startsPerMinute: 1_000 }, users: { ada: { openRuns: 1_000 } } }],
  [/plan$/, { skill: "greet", message: "x", arguments: ["a"], input: { a: 1 } }],
];

const word = fc.oneof(
  fc.constantFrom("greet", "approve", "deny", "allow", "admin", "pending", "completed", "day", "x", ""),
  fc.string({ unit: "binary", maxLength: 20 }),
);
const value = fc.oneof(
  word,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.array(word, { maxLength: 3 }),
  fc.dictionary(word, word, { maxKeys: 3 }),
);
/** A sound body with something put into it, or as it is. */
function nearlySound(path: string, known: readonly string[]): fc.Arbitrary<string> {
  const sound = SOUND.find(([pattern]) => pattern.test(path))?.[1] ?? {};
  const fields = [...Object.keys(sound), "__proto__", "constructor"];
  return fc
    .option(fc.tuple(fc.constantFrom(...fields), fc.oneof(value, fc.constantFrom(...known))))
    .map((change) => {
      return JSON.stringify({ ...sound, ...(change && { [change[0]]: change[1] }) });
    });
}

const nonsense = [
  "",
  "{",
  "null",
  '"x"',
  "\u0000",
  "[".repeat(100_000),
  `${"[".repeat(5_000)}${"]".repeat(5_000)}`,
];
const anything: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  fc.json(),
  fc.string({ unit: "binary" }),
  fc.constantFrom(...nonsense),
  fc.uint8Array({ maxLength: 200 }),
);
const segment = fc.oneof(
  fc.constantFrom("x", "..", "%00", "%", "%ff", "0mi2v000-aaaaaa", "sha256:00", "a%2Fb", "é", "'", '"', "*"),
  fc.string({ maxLength: 30 }).map((text) => encodeURIComponent(text.toWellFormed())),
);
const names = fc.constantFrom(
  ...["limit", "after", "before", "status", "by", "from", "to", "run", "skill", "x"],
  ...["q", "budget", "agent", "since", "until", "minCost"],
);
const query = fc.oneof(
  { weight: 3, arbitrary: fc.constant("") },
  fc.dictionary(names, word, { maxKeys: 3 }).map((given) => {
    const pairs = Object.entries(given).map(([key, text]): [string, string] => [key, text.toWellFormed()]);
    return `?${new URLSearchParams(pairs)}`;
  }),
  fc.constantFrom("?", "?limit=1&limit=2", "?limit=-1", "?after=1e99", "?from=2026-99-99", "?%ff=%ff"),
);

interface ArbitraryRequest {
  readonly route: ServiceRoute;
  /** Of its path, in place of every name. */
  readonly part: string;
  readonly search: string;
  readonly body: Buffer;
}

/** `known`: ids that are there, so that handlers are reached. */
export function arbitraryRequests(
  routes: readonly ServiceRoute[],
  known: readonly string[],
): fc.Arbitrary<ArbitraryRequest> {
  const part = fc.oneof(segment, fc.constantFrom(...known));
  return fc.constantFrom(...routes).chain((route) => {
    const body = fc.oneof(nearlySound(route.path, known), anything).map((sent) => Buffer.from(sent));
    return fc.record({ route: fc.constant(route), part, search: query, body });
  });
}
