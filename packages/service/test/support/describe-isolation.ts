/**
 * Two tenants with the same names for everything, and everybody who is not the second: whatever route they use with its ids,
 * they learn nothing of it and change nothing of it. Over the route table, so that a new route is held to it by itself, and
 * over any store.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Json, JsonObject } from "@metier/base/json";
import { forAllTenants } from "@metier/durable";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { tarOf } from "../../../../test/support/archives.ts";
import { skillText } from "../../../../test/support/temporary.ts";
import { parameterNames, type ServiceRoute } from "../../src/http/route.ts";
import { KEY_ROLES } from "../../src/keys/scopes.ts";
import { PROTOCOL_ROUTES } from "../../src/protocols/all-protocols.ts";
import { allRoutes } from "../../src/routes/all-routes.ts";
import { arbitraryRequests, SOUND } from "./arbitrary-requests.ts";
import { openService, type TestService } from "./open-service.ts";
import type { OpenStores } from "./start-scripted.ts";

const ROUTES = [...allRoutes("1.0.0"), ...PROTOCOL_ROUTES].filter(({ scope }) => scope !== "none");
const SAME_USER = "ada";
const SAME_KEY = "the same key of both";

/** What one tenant has; everything that others must not see of it has its mark. */
interface Party {
  readonly id: string;
  readonly mark: string;
  readonly admin: string;
  /** By role, of the user whom both tenants have. */
  readonly keys: ReadonlyMap<string, string>;
  /** Ids that only this tenant has. */
  readonly ids: readonly string[];
  /** What stands for names in paths. */
  readonly named: Readonly<Record<string, string>>;
}

export function describeIsolation(name: string, openStores?: OpenStores): void {
  const open = async (): Promise<TestService> =>
    openService({ adminKey: undefined, ...(openStores && { openStores }), limits: { failedSignIns: 1e9 } });

  describe(`tenants on ${name}`, () => {
    test("with another tenant's ids, no route tells or changes anything of it, whoever of another tenant asks", async () => {
      const service = await open();
      const [own, other] = [await settle(service, "own"), await settle(service, "other")];
      const before = await look(service, other);
      const askers: readonly (readonly [key: string, secrets: readonly string[]])[] = [
        ...[...own.keys.values()].map((key) => [key, [other.mark, ...other.ids]] as const),
        ...(await platformKeys(service)).map((key) => [key, secretsOf(other)] as const),
      ];
      for (const route of ROUTES) {
        for (const [key, secrets] of askers) {
          for (const address of addressesOf(route, other))
            await cross(service, route, address, { key, other, secrets });
        }
      }
      expect(await look(service, other)).toEqual(before);
      expect(service.log.filter((line) => line.includes('"level":"error"'))).toEqual([]);
    }, 600_000);

    test("the platform's admin reaches other tenants where a request names one, and nowhere else", async () => {
      const service = await open();
      const other = await settle(service, "other");
      const before = await look(service, other);
      const isNaming = ({ path }: ServiceRoute): boolean => /^\/v1\/(tenants|keys)\b/.test(path);
      for (const route of ROUTES.filter((one) => !isNaming(one))) {
        for (const address of addressesOf(route, other))
          await cross(service, route, address, {
            key: service.adminKey ?? "",
            other,
            secrets: secretsOf(other),
          });
      }
      expect(await look(service, other)).toEqual(before);
    }, 600_000);

    test("keys that are forged, revoked, over, lesser, or of a tenant that is gone open nothing", async () => {
      let now = Date.now();
      const service = await openService({
        ...(openStores && { openStores }),
        now: () => now,
        limits: { failedSignIns: 1e9 },
      });
      const { key: admin } = await service.makeTenant("own");
      const gone = await service.makeTenant("gone");
      const make = async (body: JsonObject): Promise<string> =>
        String((await service.call("POST", "/v1/keys", { key: admin, body })).body.key);
      const revoked = await make({ role: "admin" });
      await service.call("DELETE", `/v1/keys/${revoked.split("_")[1]}`, { key: admin });
      const over = await make({ role: "admin", expiresAt: new Date(now + 1_000).toISOString() });
      await service.call("DELETE", `/v1/tenants/${gone.id}`);
      now += 2_000;
      const [, keyId = ""] = admin.split("_");
      const forged = `metier_${keyId}_${"A".repeat(43)}`;
      const swapped = `metier_${gone.key.split("_")[1]}_${admin.split("_").slice(2).join("_")}`;
      const refused = [revoked, over, gone.key, forged, swapped, keyId, "", "e30.e30.e30", `${admin}x`];
      const viewer = await make({ role: "viewer" });
      for (const route of ROUTES.filter(({ scope }) => scope !== "operator")) {
        const shown = `${route.method} ${route.path}`;
        const ask = async (key: string) =>
          (await service.call(route.method, route.path.replace(/\{\w+\*?\}/g, "x"), { key })).status;
        for (const key of refused)
          expect([shown, key.slice(0, 12), await ask(key)]).toEqual([shown, key.slice(0, 12), 401]);
        if (route.scope !== "any" && route.scope !== "read")
          expect([shown, await ask(viewer)]).toEqual([shown, 403]);
      }
    }, 300_000);

    test("the same names, users and idempotency keys are two of each", async () => {
      const service = await open();
      const parties = [await settle(service, "own"), await settle(service, "other")];
      for (const { admin, mark, id } of parties) {
        const get = async (path: string) => (await service.call("GET", path, { key: admin })).body;
        const runs = (await get(`/v1/runs?userId=${SAME_USER}&limit=100`)).data ?? [];
        expect(runs.length).toBeGreaterThan(0);
        for (const run of runs)
          expect(await forAllTenants(() => service.store.journal.get(String(run.id)))).toMatchObject({
            tenant: id,
          });
        expect(JSON.stringify(await get("/v1/agents/writer"))).toContain(mark);
        expect((await get("/v1/secrets")).data).toHaveLength(1);
        expect((await get("/v1/usage?by=user")).data).toMatchObject([{ key: SAME_USER }]);
      }
    }, 120_000);

    test("whatever is sent, with whichever of another tenant's ids in it, nothing crosses and nothing breaks", async () => {
      const service = await open();
      const [own, other] = [await settle(service, "own"), await settle(service, "other")];
      const before = await look(service, other);
      const routes = ROUTES.filter(({ path }) => path !== "/v1/changes");
      await fc.assert(
        fc.asyncProperty(arbitraryRequests(routes, other.ids), async ({ route, part, search, body }) => {
          const address = `${route.path.replace(/\{\w+\*?\}/g, part)}${search}`;
          // A stream of a run that waits goes on: it is left to the suite of streams.
          if (route.path.endsWith("/events")) return;
          const given = route.method === "GET" ? {} : { body };
          const reply = await service.call(route.method, address, { ...given, key: own.admin });
          expect([reply.status < 500, reply.text.includes(other.mark)]).toEqual([true, false]);
        }),
        { numRuns: 600, interruptAfterTimeLimit: 60_000 },
      );
      expect(await look(service, other)).toEqual(before);
    }, 300_000);
  });
}

/** What nobody of the platform sees either; that the tenant is there, they know. */
function secretsOf({ id, mark, ids }: Party): readonly string[] {
  return [mark, ...ids.filter((one) => one !== id)];
}

/** Keys of the tenant `default` that are not the platform's. */
async function platformKeys(service: TestService): Promise<readonly string[]> {
  const roles = KEY_ROLES.filter((role) => role !== "admin");
  const made = roles.map((role) => service.call("POST", "/v1/keys", { body: { role, userId: SAME_USER } }));
  return (await Promise.all(made)).map(({ body }) => String(body.key));
}

/** One of everything that a tenant can have. */
async function settle(service: TestService, name: string): Promise<Party> {
  const mark = `only-of-${name}`;
  const { id, key: admin } = await service.makeTenant(name);
  const keys = new Map<string, string>();
  for (const role of KEY_ROLES) {
    const body = { role, userId: SAME_USER, name: `${role} ${mark}` };
    keys.set(role, String((await service.call("POST", "/v1/keys", { key: admin, body })).body.key));
  }
  const key = keys.get("admin") ?? "";
  const call = async (
    method: string,
    path: string,
    body: Json | Buffer,
    headers = {},
  ): Promise<JsonObject> => {
    const reply = await service.call(method, path, { key, body, headers });
    expect([path, reply.status, reply.text]).toEqual([
      path,
      expect.toSatisfy((status) => status < 300),
      reply.text,
    ]);
    return reply.body;
  };
  const content = skillText(`name: poet\ndescription: Writes ${mark}.`);
  const { digest } = await call("POST", "/v1/skills", gzipSync(tarOf({ name: "poet/SKILL.md", content })));
  await call("POST", "/v1/agents", { name: "writer", instructions: `Write ${mark}.` });
  await call("PUT", "/v1/secrets/TOKEN", { value: mark });
  await call("PUT", "/v1/quotas", { eachUser: { openRuns: 100 }, users: { [SAME_USER]: { openRuns: 50 } } });
  const start = (message: string, headers = {}) =>
    call("POST", "/v1/runs", { skill: "greet", message: `${message}\n${mark}` }, headers);
  const ended = await start("say 1", { "idempotency-key": SAME_KEY });
  const waiting = await start("approve bash\nask Which?");
  const session = await call("POST", "/v1/sessions", { skill: "greet", title: mark });
  const turn = await call("POST", `/v1/sessions/${session.id}/messages`, { message: mark });
  const schedule = await call("POST", "/v1/schedules", {
    name: mark,
    cron: "0 0 1 1 *",
    run: { skill: "greet" },
  });
  const runs = [ended.id, waiting.id, turn.run].map(String);
  for (const run of runs) {
    mkdirSync(join(service.folder, "work", run), { recursive: true });
    writeFileSync(join(service.folder, "work", run, "notes.txt"), mark);
    for (;;) {
      const { status } = (await forAllTenants(() => service.store.journal.get(run))) ?? {};
      if (status === "completed" || status === "waiting") break;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  const question = `q-${waiting.id}-line-0`;
  const keyIds = [...keys.values()].map((text) => text.split("_")[1] ?? "");
  return {
    id,
    mark,
    admin,
    keys,
    ids: [
      ...[...runs, question, String(session.id), String(schedule.id), ...keyIds.slice(0, 1), id],
      // As other protocols write them.
      ...[`resp_${waiting.id}_0`, `sevt_ask_${question}`],
    ],
    named: {
      digest: String(digest),
      version: "1",
      number: "1",
      path: "notes.txt",
      user: mark,
      name: "poet",
      skill: "greet",
    },
  };
}

/** Each of its ids in the place of the first name of a path, and what fits in the places of the others. */
function addressesOf({ method, path }: ServiceRoute, { ids, named }: Party): readonly string[] {
  const [first, ...rest] = parameterNames(path);
  if (first === undefined) return [path];
  const fill = (id: string): string => {
    const start = path.replace(new RegExp(`\\{${first}\\*?\\}`), encodeURIComponent(id));
    return rest.reduce(
      (text, one) =>
        text.replace(new RegExp(`\\{${one}\\*?\\}`), encodeURIComponent(named[one] ?? ids[0] ?? "x")),
      start,
    );
  };
  const own = named[first];
  // A name that the asker chooses is theirs: both may have one.
  if (method === "PUT" && first === "name") return [fill("poet")];
  return [...ids, ...(own === undefined ? [] : [own])].map(fill);
}

/** Bodies in which other protocols name what there is. */
function foreignBodies(path: string, { ids }: Party): JsonObject | undefined {
  const find = (start: string): string => ids.find((one) => one.startsWith(start)) ?? "";
  const [response, call] = [find("resp_"), find("sevt_ask_")];
  const interruptId = find("q-");
  if (path === "/a2a") return { jsonrpc: "2.0", id: 1, method: "CancelTask", params: { id: ids[1] ?? "" } };
  if (path.startsWith("/ag-ui/")) {
    const resume = [{ interruptId, status: "resolved", payload: { approved: true } }];
    return { threadId: "x", runId: "x", messages: [], resume };
  }
  if (/^\/ai-sdk\/\w+\/\{\w+\}$/.test(path)) {
    const approval = { id: interruptId, approved: true };
    const part = { type: "dynamic-tool", toolName: "bash", state: "approval-responded", approval };
    return { id: "x", messages: [{ role: "assistant", parts: [part] }] };
  }
  if (path === "/openai/v1/responses") return { previous_response_id: response, input: "say 1" };
  if (!path.endsWith("/sessions/{id}/events")) return undefined;
  return { events: [{ type: "user.tool_confirmation", tool_use_id: call, result: "allow" }] };
}

async function cross(
  service: TestService,
  { method, path }: ServiceRoute,
  address: string,
  asker: { readonly key: string; readonly other: Party; readonly secrets: readonly string[] },
): Promise<void> {
  const { key, secrets } = asker;
  const { id, ids } = asker.other;
  const sound = SOUND.find(([pattern]) => pattern.test(path))?.[1] ?? {};
  const foreign = foreignBodies(path, asker.other);
  const named = foreign ?? (path === "/v1/keys" ? { ...sound, role: "admin", tenant: id } : sound);
  const response = await fetch(`${service.url}${address}`, {
    method,
    headers: { authorization: `Bearer ${key}` },
    ...(method !== "GET" && { body: JSON.stringify(named) }),
  });
  const text = await readStart(response);
  const sent = decodeURIComponent(address) + JSON.stringify(named);
  const told = secrets.filter((secret) => text.includes(secret) && !sent.includes(secret));
  expect([method, address, response.status < 500, told]).toEqual([method, address, true, []]);
  // What has the other's id in its path, or instead of it in its body, is not there, or not for this key.
  const isForeign = foreign !== undefined || ids.some((one) => address.includes(encodeURIComponent(one)));
  if (isForeign)
    expect([method, address, response.status]).toEqual([
      method,
      address,
      // A conversation that a client names itself, and has not begun, has nothing to tell.
      expect.toSatisfy((status) => status >= 400 || status === 204),
    ]);
}

/** Of a stream, what comes at once. */
async function readStart(response: Response): Promise<string> {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  if (!isStream) return response.text();
  const reader = response.body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return Buffer.from(first?.value ?? []).toString();
}

const LISTS = [
  ...["/v1/runs?limit=500", "/v1/approvals", "/v1/questions", "/v1/sessions", "/v1/schedules", "/v1/secrets"],
  ...["/v1/agents", "/v1/agents/writer/versions", "/v1/skills", "/v1/keys", "/v1/audit?limit=500&as=stored"],
  ...["/v1/usage?by=user", "/v1/providers"],
];

/** Everything that the tenant itself sees. */
async function look(service: TestService, { admin, ids }: Party): Promise<Readonly<Record<string, Json>>> {
  const paths = [...LISTS, ...ids.slice(0, 3).flatMap((run) => [`/v1/runs/${run}`, `/v1/runs/${run}/files`])];
  const seen: Record<string, Json> = {};
  for (const path of paths) {
    const { status, body } = await service.call("GET", path, { key: admin });
    expect([path, status]).toEqual([path, 200]);
    seen[path] = body;
  }
  return seen;
}
