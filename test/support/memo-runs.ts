/** Scripted runs whose skills may ask a provider of the program (`memo-provider.ts`) for something. */
import type { ConfirmMutation, MutationPlan } from "@metier/capabilities";
import type { Script } from "@metier/run/model";
import type { MetierOptions } from "@metier/runtime";
import { createMemoProvider, type MemoProvider } from "./memo-provider.ts";
import { createRunWorld, openRuns, type ScriptedRuns } from "./scripted-runs.ts";
import type { World } from "./world.ts";

export const ALICE = { userId: "alice", chatId: "42", chatType: "private" } as const;
/** As a command of a run does it. */
export const READ = "metier-sb capability invoke -c memo.notes -o read";

export interface MemoRuns extends ScriptedRuns {
  readonly memo: MemoProvider;
  readonly world: World;
}

/** Trusted skills: `memo` declares notes, with `more` frontmatter; `account` what needs a sign-in; `plain` nothing. */
export async function openMemo(script: Script, options: MetierOptions = {}, more = ""): Promise<MemoRuns> {
  const world = createRunWorld({
    memo: [`capabilities: [memo.notes]${more}`],
    account: ["capabilities: [memo.account]"],
    plain: [],
  });
  const memo = createMemoProvider();
  const runs = await openRuns(world, script, {
    ...options,
    capabilities: { providers: [memo.provider], ...options.capabilities },
  });
  return { ...runs, memo, world };
}

/** Somebody who always gives this answer, and what they were asked. */
export function asks(
  answer: "yes" | "no" | "later",
): ConfirmMutation & { readonly plans: readonly MutationPlan[] } {
  const plans: MutationPlan[] = [];
  const confirm: ConfirmMutation = (plan) => {
    plans.push(plan);
    return answer;
  };
  return Object.assign(confirm, { plans });
}
