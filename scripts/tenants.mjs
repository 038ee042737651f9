/**
 * `npm run test:tenants`: a server with 500 runs at the same time (`METIER_TENANT_AT_ONCE`) of 50 users
 * (`METIER_TENANT_USERS`) by `metier.for`, 5,000 in all (`METIER_TENANT_RUNS`): whether anything of one reaches another, whether
 * the heap stays flat, and whether a client that goes away ends its run. `npm test` has the same in small. With `-- --postgres`:
 * as many runs of two tenants of a service that have everything alike, over HTTP and on a shared database.
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
