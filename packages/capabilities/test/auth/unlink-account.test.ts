import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ALICE, BOB } from "../../../../test/support/capability-broker.ts";
import {
  answered,
  begin,
  faultOf,
  filesBelow,
  linkedAccounts,
  openSignInWorld,
} from "../../../../test/support/sign-in-world.ts";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { answerWith } from "../../src/capability.ts";

const ACCOUNT = { accountRef: "account-1", credentialMaterial: {}, metadata: {} };

describe("an account that is unlinked", () => {
  test("is gone, with what the vault kept for it, and the provider is told", async () => {
    const forgotten: string[] = [];
    const forget = async ({ accountRef }: { accountRef: string }) => {
      forgotten.push(accountRef);
      throw new Error("It does not matter.");
    };
    const world = openSignInWorld({ provider: { forget } });
    const { flowId } = await begin(world, ALICE);
    answered(await world.auth.complete(ALICE, { flowId, code: "abc" }));
    const secrets = () =>
      filesBelow(join(world.base, "vault")).filter((file) => file.endsWith(".jwe")).length;
    expect(secrets()).toBe(1);
    expect(faultOf(await world.auth.unlink(BOB, { capability: "door.mail" })).code).toBe(
      "capability_invalid_input",
    );
    const unlinked = await world.auth.unlink(ALICE, { capability: "door.mail", account: "ADA@example.com" });
    expect(answered(unlinked)).toEqual({ account: "account-1" });
    expect(await linkedAccounts(world, ALICE)).toEqual([]);
    expect(secrets()).toBe(0);
    expect(forgotten).toEqual(["account-1"]);
    const again = faultOf(await world.auth.unlink(ALICE, { capability: "door.mail" }));
    expect(again.message).toBe("No account is linked to `door.mail`.");
  });

  test("is named where there are several, and may be of a provider that is no longer there", async () => {
    const home = temporaryFolder();
    let number = 0;
    const authComplete = async () => answerWith({ ...ACCOUNT, accountRef: `account-${++number}` });
    const world = openSignInWorld({ home, provider: { authComplete } });
    for (const account of ["a", "b"]) {
      const { flowId } = await begin(world, ALICE, "door.mail", account);
      answered(await world.auth.complete(ALICE, { flowId, code: "abc" }));
    }
    const unnamed = await world.auth.unlink(ALICE, { capability: "door.mail" });
    expect(faultOf(unnamed).code).toBe("capability_account_ambiguous");
    const gone = openSignInWorld({ home, provider: { definitions: async () => answerWith([]) } });
    const other = { ...ALICE, declared: ["door.diary"] };
    expect(
      faultOf(await gone.auth.unlink(other, { capability: "door.mail", account: "account-1" })).code,
    ).toBe("capability_access_denied");
    answered(await gone.auth.unlink(ALICE, { capability: "door.mail", account: "account-1" }));
    expect(await linkedAccounts(world, ALICE)).toEqual(["account-2"]);
  });
});
