import { join } from "node:path";
import { type Caller, refusalText } from "@metier/run";
import { describe, expect, test } from "vitest";
import { verifies } from "../../support/verifies.ts";
import { foreign, type InvocationWorld, invocationWorld, own } from "./invocation-world.ts";

describe("that the skill exists", () => {
  verifies(
    [133, "case 69", "case 70"],
    "is looked up again once, then near and available names are told",
    async () => {
      const world = await invocationWorld({ files: { ...own("deploy"), ...own("review") } });
      const refusal = await world.refuse({ skill: "deplyo" });
      expect(world.reloads).toBe(1);
      expect(refusal).toMatchObject({
        skill: "deplyo",
        reason: "not-found",
        message: "Skill `deplyo` was not found. Available: `deploy`, `placeholder` and `review`.",
        hint: "Did you mean `deploy`?",
        also: [],
      });
      expect((await world.refuse({ skill: " " })).message).toContain("No skill was named.");
    },
  );

  verifies("case 70", "is true of one that was written since", async () => {
    const world = await invocationWorld();
    world.write(own("fresh"));
    expect((await world.prepare({ skill: "fresh" })).skill.name).toBe("fresh");
    expect(world.reloads).toBe(1);
  });
});

describe("that it is enabled and available", () => {
  verifies([91, "case 71"], "is decided by the config, also for a shadowed one", async () => {
    const world = await invocationWorld({
      files: { ...own("gh"), ...foreign("gh") },
      config: '[skills]\ndisabled = ["gh"]\n',
    });
    for (const name of ["gh", "custom:gh"]) {
      const refusal = await world.refuse({ skill: name });
      expect(refusal.reason).toBe("disabled");
      expect(refusal.message).toContain("`skills.disabled`");
      expect(refusal.hint).toContain('"gh": { enabled: true }');
    }
  });

  test("is decided on what the file says now", async () => {
    const world = await invocationWorld({ files: own("tool") });
    world.write(own("tool", "requires: { bins: [no-such-command-here] }"));
    const refusal = await world.refuse({ skill: "tool" });
    expect(refusal.reason).toBe("unavailable");
    expect(refusal.message).toContain("no-such-command-here");
    world.write(own("tool", "opt-in: true"));
    expect((await world.refuse({ skill: "tool" })).reason).toBe("disabled");
  });

  test("a shadowed skill is reached by its scope", async () => {
    const world = await invocationWorld({ files: { ...own("x"), ...foreign("x", "", "Theirs.") } });
    expect((await world.prepare({ skill: "custom:x" })).instructions).toBe("Theirs.");
  });
});

describe("that it may be invoked from a source", () => {
  const MATRIX = [true, false].flatMap((model) =>
    [true, false].map((user) => ({ name: `m${model}-u${user}`, allowed: { model, user, code: true } })),
  );

  verifies([35, 36, 125, 126, "case 65"], "is the whole matrix of sources and flags", async () => {
    const files = MATRIX.map(({ name, allowed: { model, user } }) =>
      own(name, `disable-model-invocation: ${!model}\nuser-invocable: ${user}`),
    );
    const world = await invocationWorld({ files: Object.assign({}, ...files) });
    for (const { name, allowed } of MATRIX) {
      for (const source of ["model", "user", "code"] as const) {
        const outcome = await world.attempt({ skill: name, source });
        const reason = outcome.ok ? undefined : outcome.refusal.reason;
        expect(reason, `${name} ${source}`).toBe(allowed[source] ? undefined : "not-invocable");
      }
    }
  });

  verifies("case 66", "is denied with name, source and reason", async () => {
    const world = await invocationWorld({ files: own("quiet", "disable-model-invocation: true") });
    const refusal = await world.refuse({ skill: "quiet", source: "model" });
    expect(refusal).toMatchObject({
      skill: "quiet",
      data: { source: "model", flag: "disable-model-invocation: true" },
    });
    expect(refusalText(refusal)).toContain("cannot invoke skill `quiet`");
  });
});

describe("that the chat may use it", () => {
  async function reasonIn(world: InvocationWorld, name: string, caller: Caller): Promise<string> {
    const outcome = await world.attempt({ skill: name, caller });
    return outcome.ok ? "allowed" : outcome.refusal.reason;
  }

  verifies([28, 29, 169, 170, "case 76"], "follows `sensitive` and `access.chat-types`", async () => {
    const world = await invocationWorld({
      files: {
        ...own("open"),
        ...own("secret", "sensitive: true"),
        ...own("both", "sensitive: true\naccess: { chat_types: [Group, channel] }"),
      },
    });
    expect(await reasonIn(world, "open", {})).toBe("allowed");
    expect(await reasonIn(world, "secret", { chatType: "private" })).toBe("allowed");
    expect(await reasonIn(world, "secret", { chatType: " Private " })).toBe("allowed");
    expect(await reasonIn(world, "secret", { chatType: "group" })).toBe("access");
    expect(await reasonIn(world, "secret", {})).toBe("access");
    expect(await reasonIn(world, "both", { chatType: "GROUP" })).toBe("allowed");
    expect(await reasonIn(world, "both", { chatType: "private" })).toBe("access");
    const { message } = await world.refuse({ skill: "both", caller: { chatType: "private" } });
    expect(message).toContain("`group` and `channel`; this chat is `private`");
  });

  verifies([171, "case 76"], "follows the chat ids: a skill's own list, else the default one", async () => {
    const world = await invocationWorld({
      files: { ...own("usual"), ...own("special"), ...own("lifted") },
      config:
        '[skills.defaults]\nallow-chat-ids = ["1"]\n[skills.special]\nallow-chat-ids = ["2"]\n[skills.lifted]\nallow-chat-ids = []\n',
    });
    expect(await reasonIn(world, "usual", { chatId: "1" })).toBe("allowed");
    expect(await reasonIn(world, "usual", { chatId: 1 as unknown as string })).toBe("allowed");
    expect(await reasonIn(world, "usual", { chatId: "2" })).toBe("access");
    expect(await reasonIn(world, "usual", {})).toBe("access");
    expect(await reasonIn(world, "special", { chatId: "2" })).toBe("allowed");
    expect(await reasonIn(world, "special", { chatId: "1" })).toBe("access");
    expect(await reasonIn(world, "lifted", {})).toBe("allowed");
  });
});

describe("a refusal", () => {
  verifies([133, 164], "has the first failure as its reason and tells of all the others", async () => {
    const world = await invocationWorld({
      files: own(
        "much",
        "opt-in: true\nuser-invocable: false\nsensitive: true\nrequired-tools: [teleport]\nenv: [KEY]\ncapabilities: [a.b]",
      ),
    });
    const refusal = await world.refuse(
      { skill: "much", caller: {}, chain: ["much", "x", "y"] },
      { tools: [] },
    );
    expect([refusal.reason, ...refusal.also.map(({ reason }) => reason)]).toEqual([
      "disabled",
      "not-invocable",
      "access",
      "tools",
      "environment",
      "capabilities",
      "cycle",
      "depth",
    ]);
    const text = refusalText(refusal);
    expect(text.split("\n- ")).toHaveLength(8);
    expect(text).toContain("Also:");
  });
});

test("the worlds of these tests search a folder that nobody trusts", async () => {
  const world = await invocationWorld();
  expect(world.state.catalog.require("placeholder").location).toBe(
    join(world.root, "custom/placeholder/SKILL.md"),
  );
  expect(world.state.catalog.require("placeholder").trust.level).toBe("untrusted");
});
