/** Whatever clients send to whichever route, it is never a fault of the server, and every refusal has the one shape. */
import { join } from "node:path";
import type { JsonObject } from "@metier/base/json";
import fc from "fast-check";
import { expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../test/support/temporary.ts";
import { allRoutes } from "../src/routes/all-routes.ts";
import { openService, type TestService } from "./support/open-service.ts";

// Changes are told for as long as somebody listens.
const ROUTES = allRoutes("1.0.0").filter(({ path }) => path !== "/v1/changes");
const ERROR = { code: expect.any(String), message: expect.any(String), hint: expect.any(String) };

/** By the end of its path: a body that a route takes. */
const SOUND: readonly (readonly [path: RegExp, body: JsonObject])[] = [
  [/runs$/, { skill: "greet", message: "say 1", arguments: ["a"], input: { a: 1 }, approve: "allow" }],
  [/approvals\/\{id\}$/, { decision: "approve", note: "x", input: {} }],
  [/questions\/\{id\}$/, { answer: "blue" }],
  [/messages$/, { message: "say 1", approve: "ask" }],
  [/sessions$/, { skill: "greet", agent: "writer", title: "x" }],
  [/keys$/, { name: "x", role: "viewer", expiresAt: "2030-01-01", userId: "ada" }],
  [/agents$/, { name: "x", instructions: "Do.", model: "m", skills: ["greet"], limits: { maxTokens: 1 } }],
  [/agents\/\{name\}\/versions$/, { instructions: "Do it again." }],
  [/schedules$/, { name: "x", cron: "0 0 * * *", timeZone: "UTC", catchUp: "all", run: { skill: "greet" } }],
  [/schedules\/\{id\}$/, { isPaused: true }],
  [/secrets\/\{name\}$/, { value: "a secret" }],
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
function nearlySound(path: string): fc.Arbitrary<string> {
  const sound = SOUND.find(([pattern]) => pattern.test(path))?.[1] ?? {};
  const fields = [...Object.keys(sound), "__proto__", "constructor"];
  return fc.option(fc.tuple(fc.constantFrom(...fields), value)).map((change) => {
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

/** Ids that are there, so that handlers are reached. No run that waits: its events would never end. */
async function makeOneOfEach(service: TestService): Promise<readonly string[]> {
  const run = await service.start("say 1");
  await service.settle(run, "completed");
  const waiting = await service.start("approve bash\nask Which?");
  await service.settle(waiting, "waiting");
  const make = async (path: string, given: JsonObject) =>
    (await service.call("POST", path, { body: given })).body;
  await make("/v1/agents", { name: "writer", instructions: "Write." });
  const session = await make("/v1/sessions", { skill: "greet" });
  const schedule = await make("/v1/schedules", { name: "s", cron: "0 0 * * *", run: { skill: "greet" } });
  await service.call("PUT", "/v1/secrets/token", { body: { value: "x" } });
  return [
    run,
    `q-${waiting}-line-0`,
    "writer",
    String(session.id),
    String(schedule.id),
    "token",
    "greet",
    "user:greet",
  ];
}

test("nothing that is sent is a fault of the server", async () => {
  // With a key of the store: should a request make another admin, it still acts.
  const folder = temporaryFolder();
  writeTree(join(folder, "home", ".metier", "skills"), {
    "greet/SKILL.md": "---\nname: greet\ndescription: Says hello.\n---\nSay hello.\n",
    "broken/SKILL.md": "---\nname: broken\n---\n",
  });
  const service = await openService({ folder, adminKey: undefined });
  const known = await makeOneOfEach(service);
  const id = fc.oneof(segment, fc.constantFrom(...known));
  const seen = new Map<number, number>();
  const asked = fc.constantFrom(...ROUTES).chain((route) => {
    const body = fc.oneof(nearlySound(route.path), anything);
    return fc.record({ route: fc.constant(route), part: id, search: query, body });
  });
  await fc.assert(
    fc.asyncProperty(asked, async ({ route: { method, path }, part, search, body }) => {
      const address = `${path.replace(/\{\w+\*?\}/g, part)}${search}`;
      const sent = typeof body === "string" ? Buffer.from(body) : Buffer.from(body);
      const reply = await service.call(method, address, method === "GET" ? {} : { body: sent });
      seen.set(reply.status, (seen.get(reply.status) ?? 0) + 1);
      expect(reply.status).toBeLessThan(500);
      if (reply.status >= 400) expect(reply.body).toEqual({ error: ERROR });
    }),
    { numRuns: 1_500, interruptAfterTimeLimit: 30_000 },
  );
  expect(service.log.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  expect([...seen.keys()]).toEqual(expect.arrayContaining([200, 201, 404, 422]));
  expect(seen.has(401)).toBe(false);
});
