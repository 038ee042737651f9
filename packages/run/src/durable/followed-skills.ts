/**
 * Skills whose instructions are followed in a run: their lists of tools and their folders count from then on, in a durable run
 * also after another process has taken it up.
 */
import type { JsonObject } from "@metier/base/json";
import { hasFolder } from "@metier/skills";
import type { PreparedInvocation } from "../invoke/invocation.ts";
import type { ToolLists } from "../tools/policy-rules.ts";
import type { DurableRunParts } from "./durable-run.ts";

interface FollowedSkill {
  readonly lists: ToolLists;
  readonly folder?: string | undefined;
}

interface Following {
  readonly policy: { activate(lists: ToolLists): void };
  readonly place: { show(folder: string): void };
  readonly durable?: DurableRunParts | undefined;
  /** What a skill that is followed here may decide about tools. */
  listsOf(followed: PreparedInvocation): ToolLists;
}

const FOLLOW = "follow ";

/** Those that the run followed before are followed at once. */
export function followSkills({ policy, place, durable, listsOf }: Following) {
  const follow = ({ lists, folder }: FollowedSkill): void => {
    policy.activate(lists);
    if (folder !== undefined) place.show(folder);
  };
  const before = durable ? recallFollowed(durable) : [];
  for (const followed of before) follow(followed);
  // Two calls of one answer may follow a skill each, at the same time: what is being written has its number, too.
  let count = before.length;
  return (other: PreparedInvocation): void => {
    const { skill } = other;
    const followed = { lists: listsOf(other), folder: hasFolder(skill) ? skill.directory : undefined };
    follow(followed);
    count += 1;
    // A write that fails stops the run.
    durable?.steps.record(`${FOLLOW}${count}`, followed as unknown as JsonObject).catch(() => undefined);
  };
}

function recallFollowed({ steps }: DurableRunParts): readonly FollowedSkill[] {
  return steps.all(FOLLOW) as unknown as readonly FollowedSkill[];
}
