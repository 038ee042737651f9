/**
 * `npm run test:tenants`: a server with 500 concurrent runs (`METIER_TENANT_AT_ONCE`) of 50 users
 * (`METIER_TENANT_USERS`) by `metier.for`, 5,000 in total (`METIER_TENANT_RUNS`). Checks that nothing of one user
 * reaches another, that the heap stays flat, and that a client that disconnects ends its run. `npm test` has a small
 * version. With `-- --postgres`: as many runs of two identical tenants of a service, over HTTP and on a shared
 * database.
 */
import { join } from "node:path";
import { ROOT, runInForeground, runScript, say } from "./setup/repository.mjs";
import { setUp } from "./setup/set-up.mjs";

const POSTGRES = "--postgres";

runScript(() => {
  const node = setUp();
  const {
    METIER_TENANT_USERS = "50",
    METIER_TENANT_RUNS = "5000",
    METIER_TENANT_AT_ONCE = "500",
  } = process.env;
  const given = process.argv.slice(2);
  const isShared = given.includes(POSTGRES);
  const who = isShared
    ? "two tenants"
    : `${METIER_TENANT_USERS} users, ${METIER_TENANT_AT_ONCE} at the same time`;
  say(`${METIER_TENANT_RUNS} runs of ${who}`);
  const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
  const file = isShared ? "test/security/two-tenants.test.ts" : "test/scenarios/tenants.long.test.ts";
  const args = [vitest, "run", file, "--retry=0", ...given.filter((word) => word !== POSTGRES)];
  return runInForeground(node, args, {
    ...process.env,
    METIER_TENANT_USERS,
    METIER_TENANT_RUNS,
    METIER_TENANT_AT_ONCE,
    ...(isShared && { METIER_REQUIRE_POSTGRES: "1" }),
  });
});
