/**
 * Skills whose instructions a run follows: their tool lists and folders apply from then on, also after another process
 * resumes a durable run.
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
  /** What a followed skill may decide about tools. */
  listsOf(followed: PreparedInvocation): ToolLists;
}

const FOLLOW = "follow ";

/** Skills that the run followed before are followed immediately. */
export function followSkills({ policy, place, durable, listsOf }: Following) {
  const follow = ({ lists, folder }: FollowedSkill): void => {
    policy.activate(lists);
    if (folder !== undefined) place.show(folder);
  };
  const before = durable ? recallFollowed(durable) : [];
  for (const followed of before) follow(followed);
  // Two calls of one answer may each follow a skill at the same time: entries being written have their number too.
  let count = before.length;
  return (other: PreparedInvocation): void => {
    const { skill } = other;
    const followed = { lists: listsOf(other), folder: hasFolder(skill) ? skill.directory : undefined };
    follow(followed);
    count += 1;
    // A failed write stops the run.
    durable?.steps.record(`${FOLLOW}${count}`, followed as unknown as JsonObject).catch(() => undefined);
  };
}

function recallFollowed({ steps }: DurableRunParts): readonly FollowedSkill[] {
  return steps.all(FOLLOW) as unknown as readonly FollowedSkill[];
}
