/** Who is shown a way to the operators' views. */
import type { ApiMe } from "@metier/service/api";
import { expect, test } from "vitest";
import * as roles from "../../src/page/operate/roles.ts";

function rolesOf(me: Partial<ApiMe>): readonly string[] {
  const whole: ApiMe = {
    keyId: "key-1",
    tenant: "default",
    scopes: ["read"],
    mode: "serve",
    mayEditRules: false,
    version: "1",
    ...me,
  };
  return Object.entries(roles)
    .flatMap(([name, holds]) => (holds(whole) ? [name] : []))
    .sort();
}

test("the platform's admins have all; those of another tenant their own keys instead of tenants", () => {
  const shared = ["isAdmin", "isOperator", "isQuotaReader"];
  expect(rolesOf({ scopes: ["admin"] })).toEqual([...shared, "isAdminOfAll", "isOperatorOfAll"].sort());
  expect(rolesOf({ scopes: ["admin"], tenant: "t_1" })).toEqual([...shared, "isAdminOfOne"].sort());
});

test("operators see the queue, and workers only where they serve all; readers the quotas; others nothing", () => {
  const operator = { scopes: ["read", "run", "operate"] };
  expect(rolesOf(operator)).toEqual(["isOperator", "isOperatorOfAll", "isQuotaReader"]);
  expect(rolesOf({ ...operator, tenant: "t_1" })).toEqual(["isOperator", "isQuotaReader"]);
  expect(rolesOf({ scopes: ["read"] })).toEqual(["isQuotaReader"]);
  expect(rolesOf({ scopes: ["run"] })).toEqual([]);
});

test("over one's own home there is nothing to operate", () => {
  expect(rolesOf({ scopes: ["read", "operate"], mode: "inspect" })).toEqual([]);
});
