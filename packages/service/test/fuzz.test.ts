/** Whatever clients send to whichever route, it is never a fault of the server, and every refusal has the one shape. */
import { join } from "node:path";
import type { JsonObject } from "@metier/base/json";
import fc from "fast-check";
import { expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../test/support/temporary.ts";
import { PROTOCOL_ROUTES } from "../src/protocols/all-protocols.ts";
import { allRoutes } from "../src/routes/all-routes.ts";
import { arbitraryRequests } from "./support/arbitrary-requests.ts";
import { openService, type TestService } from "./support/open-service.ts";

// Changes, and what happens in a session, are told for as long as somebody listens.
const ROUTES = [...allRoutes("1.0.0"), ...PROTOCOL_ROUTES].filter(
  ({ path }) => path !== "/v1/changes" && !path.endsWith("/stream"),
);
const ERROR = { code: expect.any(String), message: expect.any(String), hint: expect.any(String) };

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
  const seen = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(
      arbitraryRequests(ROUTES, known),
      async ({ route: { method, path }, part, search, body }) => {
        const address = `${path.replace(/\{\w+\*?\}/g, part)}${search}`;
        const reply = await service.call(method, address, method === "GET" ? {} : { body });
        seen.set(reply.status, (seen.get(reply.status) ?? 0) + 1);
        expect(reply.status).toBeLessThan(500);
        if (reply.status >= 400 && path.startsWith("/v1/")) expect(reply.body).toEqual({ error: ERROR });
      },
    ),
    { numRuns: 1_500, interruptAfterTimeLimit: 30_000 },
  );
  expect(service.log.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  expect([...seen.keys()]).toEqual(expect.arrayContaining([200, 201, 404, 422]));
  expect(seen.has(401)).toBe(false);
});
