/**
 * Real clients that nobody here wrote, as far as `npm run clients` downloaded them before; this test downloads nothing.
 * `METIER_CLIENTS_DIR` says where they are.
 */
import { describe, expect, test } from "vitest";
import { AGENT_SDK, tryAgentSdk } from "../../scripts/clients/agent-sdk.mjs";
import { isInstalled } from "../../scripts/clients/install-client.mjs";
import { PROFILES } from "../../scripts/clients/profiles/all.mjs";
import { tryApart } from "../../scripts/clients/try-apart.mjs";

const folder = process.env.METIER_CLIENTS_DIR;
const TIME_LIMIT_MS = 420_000;

describe.each(PROFILES)("$id $version", (profile) => {
  test(
    `lists what Metier installed for it${profile.mcp ? ", and gets instructions by use_skill" : ""}`,
    (context) => {
      if (folder === undefined) return context.skip("METIER_CLIENTS_DIR names no folder of clients.");
      if (!isInstalled(profile, folder)) return context.skip(`It is not in ${folder}; see npm run clients.`);
      const { skipped, result, fault } = tryApart(profile, folder);
      if (skipped !== undefined) return context.skip(skipped);
      expect(fault).toBeUndefined();
      const { ms: _ms, ...found } = result ?? {};
      const answers = { home: true, project: true, opened: true };
      expect(found).toEqual(profile.mcp ? { ...answers, mcp: true } : answers);
    },
    TIME_LIMIT_MS,
  );
});

test(
  `${AGENT_SDK.id} ${AGENT_SDK.version} refuses what a followed skill disallows [C13]`,
  (context) => {
    if (folder === undefined) return context.skip("METIER_CLIENTS_DIR names no folder of clients.");
    if (!isInstalled(AGENT_SDK, folder)) return context.skip(`It is not in ${folder}; see npm run clients.`);
    expect(tryAgentSdk(folder)).toBeUndefined();
  },
  TIME_LIMIT_MS,
);
