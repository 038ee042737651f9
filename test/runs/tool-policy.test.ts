/** Which tool calls of a run happen: the order of the rules, who may be asked, and what no answer can override. */
import type { ApprovalQuestion, RunRequest } from "@metier/run";
import { expect, test } from "vitest";
import { describeSandbox } from "../support/sandbox.ts";
import {
  bash,
  calls,
  createRunWorld,
  eventsOf,
  openRuns,
  programTool,
  says,
} from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";
import { skill } from "../support/world.ts";

/** A tool with an effect that is asked about by default. */
const act = programTool("act", "Acted.", "write");

interface PolicyCase {
  readonly title: string;
  readonly frontmatter?: string;
  readonly config?: string;
  readonly approve?: RunRequest["approve"];
  readonly happens: boolean;
}

const CASES: readonly PolicyCase[] = [
  { title: "by default a call with an effect is asked about, and nobody answers", happens: false },
  { title: "the default question can be answered", approve: "all", happens: true },
  { title: "a trusted skill's list pre-approves", frontmatter: "allowed-tools: [act]", happens: true },
  {
    title: "the config's `ask` beats a pre-approval",
    frontmatter: "allowed-tools: [act]",
    config: 'act = "ask"',
    happens: false,
  },
  { title: "the config's `allow` needs no question", config: 'act = "allow"', happens: true },
  {
    title: "the config's `deny` beats a pre-approval and every answer",
    frontmatter: "allowed-tools: [act]",
    config: 'act = "deny"',
    approve: "all",
    happens: false,
  },
  {
    title: "`disallowed-tools` beats the config's `allow`, the skill's own list and every answer",
    frontmatter: "allowed-tools: [act]\ndisallowed-tools: [act]",
    config: 'act = "allow"',
    approve: "all",
    happens: false,
  },
  {
    title: "a list that does not name it beats every answer",
    frontmatter: "allowed-tools: [Read]",
    approve: "all",
    happens: false,
  },
  { title: "a required tool is not pre-approved", frontmatter: "required-tools: [act]", happens: false },
];

for (const { title, frontmatter = "", config, approve, happens } of CASES) {
  test(title, async () => {
    const world = createRunWorld({ doer: [frontmatter] });
    world.write({ "home/.metier/config.toml": config ? `[tools]\n${config}\n` : "" });
    const { run } = await openRuns(world, [calls("act", {}), says("Done.")], { tools: [act] });
    const { result, events } = await run({ skill: "doer", ...(approve && { approve }) });
    expect(result.status).toBe("completed");
    expect(eventsOf(events, "tool-finished")).toMatchObject([{ tool: "act", isError: !happens }]);
    expect(result.denied.map(({ tool }) => tool)).toEqual(happens ? [] : ["act"]);
  });
}

verifies(184, "only a yes is a yes, whatever a program answers", async () => {
  const world = createRunWorld({ doer: [] });
  const answers = [undefined, false, true, "", "sure", "no", "yes"] as unknown as "yes"[];
  const script = answers.map((_, index) => calls("act", { what: String(index) }));
  const { run } = await openRuns(world, [...script, says("Done.")], { tools: [act] });
  const left = [...answers];
  const { result } = await run({ skill: "doer", approve: () => left.shift() as "yes" });
  expect(result.denied).toHaveLength(answers.length - 1);
});

verifies(184, "an approval that fails is a no, and the run goes on", async () => {
  const world = createRunWorld({ doer: [] });
  const { run } = await openRuns(
    world,
    [
      calls("act", {}),
      says("Could not.", { toolResult: { contains: ["not allowed", "the window is gone"] } }),
    ],
    { tools: [act] },
  );
  const approve = () => Promise.reject(new Error("the window is gone"));
  const { result } = await run({ skill: "doer", approve });
  expect(result).toMatchObject({ status: "completed", denied: [{ tool: "act" }] });
});

verifies(
  184,
  "without anyone to ask, a call that needs an answer is denied and listed with the reason",
  async () => {
    const world = createRunWorld({ doer: [] });
    const { run } = await openRuns(
      world,
      [
        calls("act", {}),
        calls("write_file", { path: "notes.txt", content: "x" }, { toolResult: "nobody to ask" }),
        calls("list_files", {}, { toolResult: "nobody to ask" }),
        says("Could not.", { toolResult: { matches: "^(?!.*nobody to ask)" } }),
      ],
      { tools: [act] },
    );
    const { result } = await run({ skill: "doer", write: true });
    expect(result.denied).toEqual([
      { tool: "act", reason: expect.stringContaining("nobody to ask") },
      { tool: "write_file", reason: expect.stringContaining("nobody to ask") },
    ]);
  },
);

verifies(
  184,
  "a person is asked one question at a time; `always` is remembered for the run, and for it alone",
  async () => {
    const world = createRunWorld({ doer: [] });
    const twice = {
      answer: {
        toolCalls: [
          { tool: "act", input: { what: "a" } },
          { tool: "act", input: { what: "b" } },
        ],
      },
    };
    const { run } = await openRuns(
      world,
      [
        twice,
        calls("act", { what: "a" }),
        calls("act", { what: "b" }),
        says("Done."),
        calls("act", { what: "a" }),
        says("Done."),
      ],
      { tools: [act] },
    );
    const asked: unknown[] = [];
    let open = 0;
    const approve = async ({ skill: name, tool, input }: ApprovalQuestion) => {
      open += 1;
      expect(open).toBe(1);
      asked.push([name, tool, input.what]);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      return input.what === "a" ? "always" : "no";
    };
    const { result } = await run({ skill: "doer", approve });
    expect(asked).toEqual([
      ["doer", "act", "a"],
      ["doer", "act", "b"],
      ["doer", "act", "b"],
    ]);
    expect(result.denied).toEqual([
      { tool: "act", reason: "the user declined" },
      { tool: "act", reason: "the user declined" },
    ]);
    await run({ skill: "doer", approve });
    expect(asked).toHaveLength(4);
  },
);

verifies(
  [157, 183],
  "an untrusted skill's list only narrows, and answering yes to all does not make it trusted",
  async () => {
    const world = createRunWorld({});
    world.write({
      "other/theirs/SKILL.md": skill("theirs", "allowed-tools: [act, Read]"),
      "project/plan.txt": "the plan",
    });
    const { run } = await openRuns(
      world,
      [
        calls("act", {}, { tools: ["act", "read_file"] }),
        says("Denied."),
        calls("act", {}),
        calls("read_file", { path: `${world.project}/plan.txt` }, { toolResult: "Acted." }),
        says("Acted, and saw nothing.", { toolResult: { matches: "^(?![\\s\\S]*the plan)" } }),
      ],
      { tools: [act], paths: [`${world.root}/other`] },
    );
    const alone = await run({ skill: "theirs" });
    expect(alone.result).toMatchObject({ trust: "untrusted", denied: [{ tool: "act" }] });
    const answered = await run({ skill: "theirs", approve: "all", write: true });
    expect(answered.result).toMatchObject({
      trust: "untrusted",
      denied: [],
      text: "Acted, and saw nothing.",
    });
  },
);

verifies([18, 19], "a plain `deny` is not reopened by a scoped `allow`", async () => {
  const world = createRunWorld({ doer: [] });
  world.write({ "home/.metier/config.toml": '[tools]\nbash = "deny"\n"bash(echo:*)" = "allow"\n' });
  const { run } = await openRuns(world, [bash("echo hello"), says("Denied.")]);
  const { result } = await run({ skill: "doer", approve: "all" });
  expect(result.denied).toMatchObject([{ tool: "bash" }]);
});

describeSandbox("scoped patterns in a run", () => {
  test("the most specific entry of the config decides, and one that denies wins", async () => {
    const world = createRunWorld({ doer: [] });
    world.write({
      "home/.metier/config.toml":
        '[tools]\nbash = "ask"\n"bash(echo:*)" = "allow"\n"bash(echo secret:*)" = "deny"\n',
    });
    const { run } = await openRuns(world, [
      bash("echo hello"),
      bash("echo hello; date", { toolResult: "hello" }),
      bash("echo secret plans", { toolResult: "nobody to ask" }),
      bash("echo $HOME", { toolResult: "not allowed" }),
      says("Done."),
    ]);
    const { result, events } = await run({ skill: "doer" });
    const decisions = eventsOf(events, "tool-called").map(({ decision }) => decision);
    expect(decisions).toEqual(["allow", "deny", "deny", "deny"]);
    expect(result.denied).toHaveLength(3);
  });
});
