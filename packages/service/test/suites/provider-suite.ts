/** Model providers of tenants over HTTP, on whatever store: what can be written, and who has which models. */
import { forAllTenants, forTenant } from "@metier/durable";
import { describe, expect, test } from "vitest";
import { openOwnModels, readOwnModels } from "../../src/providers/model-access.ts";
import type { openService } from "../support/open-service.ts";
import { addTenant } from "../support/other-tenant.ts";
import { ACME, EGRESS, openWithSecret, putProvider as put } from "../support/providers.ts";

export function providerSuite(open: typeof openService): void {
  describe("a provider", () => {
    test("is written, read, listed and removed, and its key is in no answer, record or line of the log", async () => {
      const service = await openWithSecret({}, open);
      const written = await put(service, "acme", { ...ACME, models: ["small", "large"], inputPrice: 1 });
      expect(written.body).toMatchObject({
        name: "acme",
        ...ACME,
        models: ["small", "large"],
        inputPrice: 1,
      });
      expect((await service.call("GET", "/v1/providers/acme")).body).toEqual(written.body);
      expect((await service.call("GET", "/v1/providers")).body.data).toEqual([written.body]);
      const audit = await service.call("GET", "/v1/audit");
      expect(audit.body.data?.map(({ action }) => action)).toContain("provider.created");
      const stored = await forAllTenants(() => service.store.records.listAll("provider"));
      expect(JSON.stringify([stored, audit.body, service.log])).not.toContain("sk-very-secret");
      expect((await service.call("DELETE", "/v1/providers/acme")).body).toEqual({ name: "acme" });
      expect((await service.call("GET", "/v1/providers/acme")).status).toBe(404);
    });

    test("needs a secret that is there, an address where its kind has none, and a name that is free", async () => {
      const service = await openWithSecret({}, open);
      const codeOf = async (name: string, body: object) => {
        const { status, body: answer } = await put(service, name, body);
        return [status, answer.error?.code];
      };
      const refused = [422, "invalid_request"];
      expect(await codeOf("acme", { ...ACME, secret: "NOT_THERE" })).toEqual([422, "unknown_secret"]);
      expect(await codeOf("acme", { kind: "openai-compatible", secret: "ACME_KEY" })).toEqual(refused);
      expect(await codeOf("acme", { kind: "anthropic" })).toEqual(refused);
      expect(await codeOf("acme", { ...ACME, models: [] })).toEqual(refused);
      expect(await codeOf("acme", { ...ACME, apiKey: "sk-x" })).toEqual(refused);
      expect(await codeOf("acme", { ...ACME, kind: "ollama" })).toEqual(refused);
      for (const name of ["default", "inherit", "sonnet", "gguf", "openai"]) {
        expect([name, ...(await codeOf(name, ACME))]).toEqual([name, ...refused]);
      }
      expect((await put(service, "openai-compatible", ACME)).status).toBe(200);
    });

    test("belongs to its tenant alone: another sees none, and its secret is not another's", async () => {
      const service = await openWithSecret({}, open);
      await put(service, "acme", ACME);
      const other = await (await addTenant(service, "other")).makeKey(["read", "write"]);
      expect((await service.call("GET", "/v1/providers", { key: other })).body.data).toEqual([]);
      expect((await service.call("GET", "/v1/providers/acme", { key: other })).status).toBe(404);
      expect((await service.call("DELETE", "/v1/providers/acme", { key: other })).status).toBe(404);
      const stolen = await put(service, "acme", ACME, other);
      expect([stolen.status, stolen.body.error?.code]).toEqual([422, "unknown_secret"]);
      expect((await service.call("GET", "/v1/providers/acme")).status).toBe(200);
    });
  });

  describe("the models of the service itself", () => {
    test("are for the tenant `default`, and for others when the platform's admins say so", async () => {
      const service = await openWithSecret({}, open);
      const acme = await addTenant(service, "acme");
      const own = (tenant: string) =>
        forTenant(tenant, async () =>
          openOwnModels(await readOwnModels(service.store.records, tenant), {}, EGRESS),
        );
      expect(await own("default")).toBeUndefined();
      expect(await own(acme.id)).toMatchObject({ home: "none", providers: [] });
      const path = "/v1/tenants/acme/models";
      expect((await service.call("GET", path)).body).toEqual({ usesHomeModels: false });
      await service.call("PUT", path, { body: { usesHomeModels: true } });
      expect((await service.call("GET", path)).body).toEqual({ usesHomeModels: true });
      expect(await own(acme.id)).toMatchObject({ home: "configured" });
      expect(await own("t_other")).toMatchObject({ home: "none" });
      const key = await acme.makeKey(["read", "write", "run", "operate"]);
      const refused = await service.call("PUT", path, { key, body: { usesHomeModels: true } });
      expect(refused.status).toBe(403);
    });

    test("are not had by a tenant without providers, which is told so when it starts a run", async () => {
      const service = await open({ egress: EGRESS, needsModels: true });
      const key = await (await addTenant(service, "acme")).makeKey(["read", "run", "write"]);
      const start = () => service.call("POST", "/v1/runs", { key, body: { skill: "greet", message: "" } });
      const refused = await start();
      expect([refused.status, refused.body.error?.code]).toEqual([422, "no_model"]);
      expect(refused.body.error?.hint).toContain("/v1/providers");
      await service.call("PUT", "/v1/secrets/ACME_KEY", { key, body: { value: "sk" } });
      await put(service, "acme", ACME, key);
      expect((await start()).body.error?.code).not.toBe("no_model");
    });
  });
}
