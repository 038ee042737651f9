/** What is left on disk of users who were forgotten. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ALICE, BOB, openPostOffice } from "../../../test/support/capability-broker.ts";
import {
  answered,
  begin,
  faultOf,
  filesBelow,
  linkedAccounts,
  openSignInWorld,
  type SignInWorld,
} from "../../../test/support/sign-in-world.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import type { CapabilityCaller } from "../src/capability.ts";
import { userFolder } from "../src/state-files.ts";

const ADA: CapabilityCaller = { userId: "tenant/acme/ada", chatType: "private", chatId: "chat-of-ada" };
const EVE: CapabilityCaller = { userId: "tenant/acme/eve", chatType: "private" };
const OTHER: CapabilityCaller = { userId: "tenant/acme2/ada", chatType: "private" };

/** One account linked, one sign-in under way. */
async function useAs(world: SignInWorld, caller: CapabilityCaller): Promise<void> {
  const { flowId } = await begin(world, caller);
  answered(await world.auth.complete(caller, { flowId, code: "abc" }));
  await begin(world, caller, "door.mail", "second@example.com");
}

function everything(folder: string): string {
  return filesBelow(folder)
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
}

const secretsOf = ({ base }: SignInWorld): number =>
  filesBelow(join(base, "vault")).filter((file) => file.endsWith(".jwe")).length;

describe("a user who is forgotten", () => {
  test("has no account, no sign-in and no secret any more, providers are told, and others keep theirs", async () => {
    const told: string[] = [];
    const forget = async (_: unknown, { caller }: { readonly caller: CapabilityCaller }) => {
      told.push(caller.userId);
      throw new Error("It does not matter.");
    };
    const world = openSignInWorld({ provider: { forget } });
    for (const caller of [ADA, BOB]) await useAs(world, caller);
    expect(secretsOf(world)).toBe(4);
    await world.broker.forget({ userId: ADA.userId });
    expect(told).toEqual([ADA.userId]);
    expect(await linkedAccounts(world, ADA)).toEqual([]);
    expect(await world.auth.list(ADA)).toEqual([]);
    expect(await linkedAccounts(world, BOB)).toEqual(["account-1"]);
    expect(await world.auth.list(BOB)).toHaveLength(1);
    expect(secretsOf(world)).toBe(2);
    await world.broker.forget({ userId: ADA.userId });
    const left = everything(world.base);
    for (const trace of [ADA.userId, "chat-of-ada"]) expect(left).not.toContain(trace);
    const lines = world.audit();
    expect(lines.filter(({ user }) => user === BOB.userId)).toHaveLength(4);
    const hers = lines.filter(({ user }) => /^p_[0-9a-f]{12}$/.test(user));
    expect(hers.map(({ action }) => action)).toEqual(
      lines.filter(({ user }) => user === BOB.userId).map(({ action }) => action),
    );
    expect(new Set(hers.map(({ user }) => user)).size).toBe(1);
    expect(hers.every(({ account, chatId }) => account === undefined && chatId === undefined)).toBe(true);
  });

  test("loses also what a provider kept that is no longer there, and what is damaged", async () => {
    const home = temporaryFolder();
    const world = openSignInWorld({ home });
    await useAs(world, ALICE);
    const state = join(world.base, "state", "capabilities");
    for (const file of filesBelow(join(state, "accounts"))) writeFileSync(file, "no JSON");
    const { broker, folder } = openPostOffice({ home });
    await broker.forget({ userId: ALICE.userId });
    expect(secretsOf(world)).toBe(0);
    for (const kind of ["accounts", "flows"]) {
      expect(existsSync(userFolder(join(folder, kind), ALICE.userId))).toBe(false);
    }
  });

  test("leaves no result of a change, no plan and no count of calls behind", async () => {
    const post = openPostOffice({ rateLimit: 3 });
    const file = (caller: CapabilityCaller) =>
      post.broker.invoke(
        caller,
        { capability: "post.mail", operation: "file", idempotencyKey: "k" },
        { confirm: () => "yes" },
      );
    for (const caller of [ALICE, BOB]) {
      await post.link(caller, "one");
      answered(await file(caller));
    }
    const request = { capability: "post.mail", operation: "send" };
    const put = faultOf(await post.broker.invoke(ALICE, request, { confirm: () => "later" }));
    const planId = /plan_[0-9a-f]+/.exec(put.hint ?? "")?.[0] ?? "";
    await post.broker.forget({ userId: ALICE.userId });
    expect(filesBelow(join(post.folder, "journal"))).toHaveLength(1);
    expect(answered(await file(BOB)).isRepeat).toBe(true);
    await post.link(ALICE, "one");
    const again = await post.broker.invoke(ALICE, { ...request, planId }, { confirm: () => "yes" });
    expect(faultOf(again).code).toBe("capability_mutation_plan_mismatch");
    expect(answered(await file(ALICE)).isRepeat).toBe(false);
    expect(answered(await file(ALICE)).isRepeat).toBe(true); // The third since, and the fifth in this minute.
  });

  test("may be one whom nobody has ever met", async () => {
    const world = openSignInWorld();
    await world.broker.forget({ userId: "nobody" });
    expect(existsSync(world.base)).toBe(false);
  });
});

test("all users of a tenant are forgotten, and none of a tenant whose name begins like it", async () => {
  const world = openSignInWorld();
  for (const caller of [ADA, EVE, OTHER, BOB]) await useAs(world, caller);
  await begin(world, { ...EVE, userId: "tenant/acme/only-began" });
  await world.broker.forget({ prefix: "tenant/acme/" });
  expect(everything(world.base)).not.toContain("tenant/acme/");
  expect(secretsOf(world)).toBe(4);
  for (const caller of [OTHER, BOB]) expect(await linkedAccounts(world, caller)).toEqual(["account-1"]);
  const pseudonyms = world.audit().flatMap(({ user }) => (user.startsWith("p_") ? [user] : []));
  expect(new Set(pseudonyms).size).toBe(3);
});
