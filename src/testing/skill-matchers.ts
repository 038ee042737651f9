/**
 * Matchers about skills, for `expect.extend(skillMatchers)` of Vitest and of whatever takes the same. They take a harness,
 * the path of a skill, or a skill as an object. Each is asynchronous: `await expect(harness).toBeValidSkill()`.
 */
import type { GivenSkill } from "../catalog/given-skills.ts";
import type { RefusalReason } from "../invoke/invocation.ts";
import { refusalText } from "../invoke/refusal-text.ts";
import { readToolName } from "../tools/tool-names.ts";
import type { Profile } from "../validate/profiles.ts";
import type { TestRequest } from "./run-scripted.ts";
import { SkillTestHarness } from "./skill-test-harness.ts";

export type TestedSkill = SkillTestHarness | string | URL | GivenSkill;

/** What the matchers add to `expect(skill)`. */
export interface SkillMatchers {
  /** No rule of the profile finds an error. Default: `standard`. */
  toBeValidSkill(profile?: Profile): Promise<void>;
  /** `allowed-tools` names it, as written, or by any name that means the same tool: `Read` is `read_file`. */
  toDeclareTool(tool: string): Promise<void>;
  /** With these arguments, the text has them (or what is expected instead), and `$ARGUMENTS` no more. */
  toSubstitute(args: string, expected?: string | RegExp): Promise<void>;
  /** It may be used so, by all checks. */
  toBeUsable(request?: TestRequest): Promise<void>;
  /** It may not; for this reason, when one is given. */
  toRefuse(reason?: RefusalReason, request?: TestRequest): Promise<void>;
}

interface MatcherAnswer {
  readonly pass: boolean;
  message(): string;
}

type Matcher<Name extends keyof SkillMatchers> = (
  received: TestedSkill,
  ...expected: Parameters<SkillMatchers[Name]>
) => Promise<MatcherAnswer>;

export const skillMatchers: { readonly [Name in keyof SkillMatchers]: Matcher<Name> } = {
  async toBeValidSkill(received, profile) {
    const { valid, errors } = await harnessOf(received).validate(profile);
    return answer(valid, "be a valid skill", valid ? "it is" : `it is not:\n${lines(errors)}`);
  },

  async toDeclareTool(received, tool) {
    const tools = await harnessOf(received).getRegisteredTools();
    const pass = tools.some((pattern) => pattern === tool || meaningOf(pattern) === meaningOf(tool));
    const declared = tools.length > 0 ? `declared are:\n${lines(tools)}` : "it declares none";
    return answer(pass, `declare the tool \`${tool}\``, declared);
  },

  async toSubstitute(received, args, expected = args) {
    const text = await harnessOf(received).invoke(args);
    const isThere = typeof expected === "string" ? text.includes(expected) : expected.test(text);
    const pass = isThere && !text.includes("$ARGUMENTS");
    const what = typeof expected === "string" ? JSON.stringify(expected) : String(expected);
    return answer(pass, `have ${what} for the arguments ${JSON.stringify(args)}`, `its text is:\n${text}`);
  },

  async toBeUsable(received, request) {
    const outcome = await harnessOf(received).prepare(request);
    const why = outcome.ok ? "it is" : `it is refused: ${refusalText(outcome.refusal)}`;
    return answer(outcome.ok, "be usable", why);
  },

  async toRefuse(received, reason, request) {
    const outcome = await harnessOf(received).prepare(request);
    const reasons = outcome.ok ? [] : [outcome.refusal, ...outcome.refusal.also].map((cause) => cause.reason);
    const pass = reason === undefined ? !outcome.ok : reasons.includes(reason);
    const what = reason === undefined ? "be refused" : `be refused because of \`${reason}\``;
    return answer(pass, what, outcome.ok ? "it is usable" : `it is refused: ${refusalText(outcome.refusal)}`);
  },
};

function harnessOf(received: TestedSkill): SkillTestHarness {
  if (received instanceof SkillTestHarness) return received;
  const isPath = typeof received === "string" || received instanceof URL;
  return new SkillTestHarness(isPath ? { skillPath: received } : { skill: received });
}

/** Which tool a pattern is about, whatever its scope: `Bash(git log:*)` is about `bash`. */
function meaningOf(pattern: string): string {
  return readToolName(pattern.split("(", 1)[0] ?? pattern).name;
}

function answer(pass: boolean, wish: string, came: string): MatcherAnswer {
  return { pass, message: () => `expected the skill ${pass ? "not " : ""}to ${wish}; ${came}` };
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `  ${text}`).join("\n");
}
