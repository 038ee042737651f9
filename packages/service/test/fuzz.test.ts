/** Whatever clients send to whichever route, it is never a fault of the server, and every refusal has the one shape. */
import type { JsonObject } from "@metier/base/json";
import fc from "fast-check";
import { expect, test } from "vitest";
import { allRoutes } from "../src/routes/all-routes.ts";
import { openService, type TestService } from "./support/open-service.ts";

const ROUTES = allRoutes("1.0.0");
const ERROR = { code: expect.any(String), message: expect.any(String), hint: expect.any(String) };

/** Bodies that some route takes. */
const SOUND: readonly JsonObject[] = [
  { skill: "greet", message: "say 1", arguments: ["a"], input: { a: 1 }, approve: "allow" },
  { skill: "greet", agent: "writer", title: "x" },
  { decision: "approve", note: "x", input: {} },
  { answer: "blue" },
  { message: "say 1", approve: "ask" },
  { name: "x", role: "viewer", expiresAt: "2030-01-01", userId: "ada" },
  { name: "y", scopes: ["read"] },
  { name: "other", instructions: "Do.", model: "m", skills: ["greet"], limits: { maxTokens: 1 } },
  { instructions: "Do it again." },
  { name: "x", cron: "0 0 * * *", timeZone: "UTC", catchUp: "all", run: { skill: "greet" } },
  { isPaused: true },
  { value: "a secret" },
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
const nearlySound = fc
  .tuple(fc.constantFrom(...SOUND), fc.option(fc.tuple(fc.nat(5), value)))
  .map(([sound, change]) => {
    const names = [...Object.keys(sound), "__proto__", "constructor"];
    const changed = change && { [names[change[0] % names.length] ?? "x"]: change[1] };
    return JSON.stringify({ ...sound, ...changed });
  });
const nonsense = [
  "",
  "{",
  "null",
  '"x"',
  "\u0000",
  "[".repeat(100_000),
  `${"[".repeat(5_000)}${"]".repeat(5_000)}`,
];
const body: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  { weight: 4, arbitrary: nearlySound },
  fc.json(),
  fc.string({ unit: "binary" }),
  fc.constantFrom(...nonsense),
  fc.uint8Array({ maxLength: 200 }),
);
const segment = fc.oneof(
  fc.constantFrom("x", "..", "%00", "%", "%ff", "0mi2v000-aaaaaa", "sha256:00", "a%2Fb", "é", "'", '"', "*"),
  fc.string({ maxLength: 30 }).map((text) => encodeURIComponent(text.toWellFormed())),
);
const names = fc.constantFrom("limit", "after", "before", "status", "by", "from", "to", "run", "skill", "x");
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
  return [run, `q-${waiting}-line-0`, "writer", String(session.id), String(schedule.id), "token", "greet"];
}

test("nothing that is sent is a fault of the server", async () => {
  // With a key of the store: should a request make another admin, it still acts.
  const service = await openService({ adminKey: undefined });
  const known = await makeOneOfEach(service);
  const id = fc.oneof(segment, fc.constantFrom(...known));
  const seen = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...ROUTES), id, query, body, async (route, part, search, sent) => {
      const path = route.path.replace(/\{\w+\*?\}/g, part);
      const bytes = typeof sent === "string" ? Buffer.from(sent) : Buffer.from(sent);
      const reply = await service.call(
        route.method,
        `${path}${search}`,
        route.method === "GET" ? {} : { body: bytes },
      );
      seen.set(reply.status, (seen.get(reply.status) ?? 0) + 1);
      expect(reply.status).toBeLessThan(500);
      if (reply.status >= 400) expect(reply.body).toEqual({ error: ERROR });
    }),
    { numRuns: 2_000, interruptAfterTimeLimit: 40_000 },
  );
  expect(service.log.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  expect([...seen.keys()]).toEqual(expect.arrayContaining([200, 201, 404, 422]));
  expect(seen.has(401)).toBe(false);
});
