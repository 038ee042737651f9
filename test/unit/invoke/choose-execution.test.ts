import { describe, expect, test } from "vitest";
import { verifies } from "../../support/verifies.ts";
import { invocationWorld, own } from "./invocation-world.ts";

const DECLARING: Readonly<Record<string, string>> = {
  env: "env: [KEY]",
  capabilities: "capabilities: [a.b]",
  packages: "packages: [jq]",
  "max-iterations": "max-iterations: 3",
  "input-schema": "input-schema: { type: object }",
  "required-tools": "required-tools: [bash]",
  sandbox: "sandbox: { network: [example.com] }",
};
const CONFIG = '[skills.x]\nKEY = "value"\n';
const HOST = { tools: ["bash"], capabilities: () => undefined };

describe("`auto`", () => {
  verifies([33, 146], "lets `context` decide", async () => {
    const world = await invocationWorld({
      files: { ...own("forks", "context: fork"), ...own("stays", "context: inline\nmax-iterations: 3") },
    });
    expect((await world.prepare({ skill: "forks" })).execution).toBe("isolated");
    expect((await world.prepare({ skill: "stays" })).execution).toBe("inline");
  });

  test.each(Object.entries(DECLARING))("isolates a skill that declares `%s`", async (field, line) => {
    const world = await invocationWorld({ files: own("x", line), config: CONFIG });
    const { execution, diagnostics } = await world.prepare({ skill: "x" }, HOST);
    expect(execution).toBe("isolated");
    const idle = diagnostics.filter(({ code }) => code === "invoke.not-honoured");
    expect(idle).toEqual([]);
    const text = await world.prepare({ skill: "x" }, { ...HOST, asked: "text" });
    expect(text.execution).toBe("inline");
    const lost = text.diagnostics.find(({ code }) => code === "invoke.not-honoured")?.message;
    if (field === "input-schema") expect(lost).toBeUndefined();
    else expect(lost).toContain(`\`${field}\``);
  });

  test("acts on the paths of `sandbox`", async () => {
    const world = await invocationWorld({ files: own("x", "sandbox: { read: [/srv], write: [/var/x] }") });
    const { diagnostics } = await world.prepare({ skill: "x" }, HOST);
    expect(diagnostics.filter(({ code }) => code === "invoke.not-honoured")).toEqual([]);
  });

  test("does not isolate for `model` and the like, and says that they are not honoured", async () => {
    const world = await invocationWorld({
      files: own(
        "x",
        "model: fast\neffort: high\nallowed-tools: Read\ndisallowed-tools: Bash\nbackground: true",
      ),
    });
    const { execution, diagnostics } = await world.prepare({ skill: "x" });
    expect(execution).toBe("inline");
    expect(diagnostics.find(({ code }) => code === "invoke.not-honoured")?.message).toContain(
      "`model`, `effort`, `allowed-tools` as a restriction, `disallowed-tools`, `background`",
    );
  });
});

test("the config and its presets decide for skills that do not say", async () => {
  const decided = async (config: string): Promise<string> => {
    const world = await invocationWorld({ files: own("x", "max-iterations: 3"), config });
    return (await world.prepare({ skill: "x" })).execution;
  };
  expect(await decided('[skills]\ndefault-execution = "inline"\n')).toBe("inline");
  expect(await decided('[skills]\ndefault-execution = "isolated"\n')).toBe("isolated");
  const preset = await invocationWorld({ options: { preset: "ash" } });
  expect((await preset.prepare({ skill: "placeholder" })).execution).toBe("isolated");
});

test("who asks for a run gets one, whatever the skill says", async () => {
  const world = await invocationWorld({ files: own("x", "context: inline") });
  expect((await world.prepare({ skill: "x" }, { asked: "isolated" })).execution).toBe("isolated");
});
