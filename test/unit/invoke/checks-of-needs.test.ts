/** The checks of what a skill needs: trust, input, tools, variables, capabilities, room in the chain. */
import { createConversationTrust } from "@metier/run";
import { grantFolder } from "@metier/skills/trust";
import { describe, expect, test } from "vitest";
import { verifies } from "../../support/verifies.ts";
import { skill } from "../../support/world.ts";
import { foreign, invocationWorld, own } from "./invocation-world.ts";

describe("that it is trusted with what it asks for", () => {
  verifies([149, 178, 179, "case 89"], "an untrusted skill does not fork, a trusted one does", async () => {
    const world = await invocationWorld({
      files: { ...own("mine", "context: fork"), ...foreign("theirs", "context: fork\nagent: helper") },
    });
    expect((await world.prepare({ skill: "mine" })).execution).toBe("isolated");
    const refusal = await world.refuse({ skill: "theirs" });
    expect(refusal).toMatchObject({ reason: "trust", data: { needs: ["fork"] } });
    expect(refusal.hint).toContain("`trustedPaths`");
    expect((await world.refuse({ skill: "theirs" }, { asked: "isolated" })).reason).toBe("trust");
  });

  verifies(179, "what it merely loses is said, and refuses nothing", async () => {
    const fields =
      "allowed-tools: Bash(git:*)\nagent: helper\nhooks: { Stop: [] }\ntoolsets: ['lib/a:B']\nsandbox: { network: [example.com], read: [/a], write: [/b] }";
    const world = await invocationWorld({ files: { ...foreign("theirs", fields), ...own("mine", fields) } });
    const { trust, diagnostics } = await world.prepare({ skill: "theirs" });
    expect(trust.level).toBe("untrusted");
    const withheld = diagnostics.find(({ code }) => code === "invoke.withheld");
    const sandbox = ["sandbox.network", "sandbox.read", "sandbox.write"];
    for (const field of ["allowed-tools", "agent", "hooks", "toolsets", ...sandbox])
      expect(withheld?.message).toContain(`\`${field}\``);
    const mine = await world.prepare({ skill: "mine" });
    expect(mine.diagnostics.filter(({ code }) => code === "invoke.withheld")).toEqual([]);
  });

  verifies([163, 185], "an untrusted skill is not run with less than it declares", async () => {
    const world = await invocationWorld({
      files: foreign("theirs", "env: [API_KEY]"),
      config: '[skills.theirs]\nAPI_KEY = "a-long-secret"\n',
    });
    const refusal = await world.refuse({ skill: "theirs" });
    expect(refusal).toMatchObject({ reason: "trust", data: { needs: ["API_KEY"] } });
    expect(JSON.stringify(refusal)).not.toContain("a-long-secret");
    expect((await world.prepare({ skill: "theirs" }, { asked: "text" })).env).toEqual({});
  });

  verifies(185, "values of the user's config reach a project's skill only after a grant", async () => {
    const files = { "project/.metier/skills/p/SKILL.md": skill("p", "env: [API_KEY]") };
    const config = '[skills.p]\nAPI_KEY = "a-long-secret"\n';
    const world = await invocationWorld({ files, config });
    const refusal = await world.refuse({ skill: "p" });
    expect(refusal.reason).toBe("trust");
    expect(refusal.message).toContain("needs your grant");
    expect((await world.prepare({ skill: "p" }, { env: { API_KEY: "of-the-caller" } })).env).toEqual({
      API_KEY: { value: "of-the-caller", secret: true },
    });
    grantFolder(world.places, { path: world.project, decision: "trusted" });
    await world.reload();
    expect((await world.prepare({ skill: "p" })).env).toEqual({
      API_KEY: { value: "a-long-secret", secret: true },
    });
  });

  test("values that the embedding program sets itself need no grant of the user", async () => {
    const world = await invocationWorld({
      files: { "project/.metier/skills/p/SKILL.md": skill("p", "env: [API_KEY]") },
      options: { config: { skills: { p: { API_KEY: "of-the-program" } } } },
    });
    expect((await world.prepare({ skill: "p" })).env.API_KEY?.value).toBe("of-the-program");
  });
});

describe("that the input fits", () => {
  const SCHEMA =
    "input-schema:\n  type: object\n  required: [city]\n  properties:\n    city: { type: string }\n    unit: { enum: [celsius, kelvin], default: celsius }";

  verifies([122, 124, "case 81"], "is told by field, and defaults are put in", async () => {
    const world = await invocationWorld({ files: own("weather", SCHEMA) });
    const missing = await world.refuse({ skill: "weather" });
    expect(missing.reason).toBe("input");
    expect(missing.message).toBe("Invalid input: `city` is missing.");
    const wrong = await world.refuse({ skill: "weather", input: { city: "Bonn", unit: "x" } });
    expect(wrong.message).toBe("Invalid input: `unit` is `x`; allowed: `celsius`, `kelvin`.");
    const { input } = await world.prepare({ skill: "weather", input: { city: "Bonn" } });
    expect(input).toEqual({ city: "Bonn", unit: "celsius" });
  });

  test("also for an object that was sent as its text", async () => {
    const world = await invocationWorld({ files: own("weather", SCHEMA) });
    expect((await world.prepare({ skill: "weather", input: '{"city":"Bonn"}' })).input).toMatchObject({
      city: "Bonn",
    });
    for (const input of ["Bonn", "{city"]) {
      expect((await world.refuse({ skill: "weather", input })).message).toContain("allowed: object");
    }
  });

  test("a schema that cannot be used is a refusal that names the file", async () => {
    const world = await invocationWorld({ files: own("broken", "input-schema: { type: nonsense }") });
    const { message, hint } = await world.refuse({ skill: "broken", input: {} });
    expect(message).toMatch(/^Invalid input: the schema can't be used/);
    expect(hint).toContain("broken/SKILL.md");
  });

  verifies([121, "case 69"], "a model that starts a run says what to do", async () => {
    const world = await invocationWorld({ files: { ...own("forker", "context: fork"), ...own("plain") } });
    const refusal = await world.refuse({ skill: "forker", source: "model", message: " " });
    expect(refusal).toMatchObject({ reason: "input", data: { missing: ["message"] } });
    const told = await world.prepare({ skill: "forker", source: "model", message: "Go.", context: "Calm." });
    expect(told).toMatchObject({ message: "Go.", context: "Calm." });
    await world.prepare({ skill: "forker", source: "model", arguments: "x" });
    await world.prepare({ skill: "forker", source: "user" });
    await world.prepare({ skill: "plain", source: "model" });
  });
});

describe("that its tools are there", () => {
  verifies(
    [21, 101, "case 80"],
    "is asked before anything runs, under the names of other systems too",
    async () => {
      const world = await invocationWorld({
        files: {
          ...own("needs", "required-tools: [Bash(git:*), Read]"),
          ...own("more", "required-tools: [teleport, fly]"),
          ...own("server", "required-tools: [mcp__github, 'notes_*']"),
        },
      });
      const refusal = await world.refuse({ skill: "needs" }, { tools: ["read_file"] });
      expect(refusal.reason).toBe("tools");
      expect(refusal.message).toBe(
        "Skill requires tool 'Bash(git:*)' which is not available. Available: `read_file`.",
      );
      await world.prepare({ skill: "needs" }, { tools: ["bash", "read_file"] });
      expect((await world.refuse({ skill: "more" }, { tools: [] })).message).toBe(
        "Skill requires tools 'teleport', 'fly' which are not available. Available: none.",
      );
      await world.prepare({ skill: "server" }, { tools: ["mcp__github__search", "notes_read"] });
      expect((await world.refuse({ skill: "server" }, { tools: ["notes_read"] })).data.missing).toEqual([
        "mcp__github",
      ]);
    },
  );

  test("of a conversation that is not ours, its host decides", async () => {
    const world = await invocationWorld({ files: own("needs", "required-tools: [Bash]\ncontext: inline") });
    const { diagnostics } = await world.prepare({ skill: "needs" });
    expect(diagnostics.map(({ message }) => message).join()).toContain("`required-tools`");
    expect((await world.refuse({ skill: "needs" }, { tools: ["read_file"] })).reason).toBe("tools");
  });
});

describe("that its variables have values", () => {
  verifies(
    [164, "case 72"],
    "every missing one is named, with the section and the lines to add",
    async () => {
      const world = await invocationWorld({
        files: own("research", "env: [FIRST_KEY, SECOND_KEY, THIRD]"),
        config: '[skills.research]\nTHIRD = { value = "x", secret = false }\n',
      });
      const refusal = await world.refuse({ skill: "research" });
      expect(refusal).toMatchObject({
        reason: "environment",
        data: { missing: ["FIRST_KEY", "SECOND_KEY"] },
      });
      expect(refusal.hint).toBe('Add to your config:\n[skills.research]\nFIRST_KEY = "…"\nSECOND_KEY = "…"');
    },
  );

  verifies([163, 185], "only declared ones are delivered, and only to a run", async () => {
    const world = await invocationWorld({
      files: { ...own("research", "env: [KEY, OPEN]"), ...own("other", "max-iterations: 3") },
      config:
        '[skills.research]\nKEY = "a-long-secret"\nOPEN = { value = "x", secret = false }\nUNDECLARED = "y"\n[skills.other]\nKEY = "z"\n',
    });
    expect((await world.prepare({ skill: "research" })).env).toEqual({
      KEY: { value: "a-long-secret", secret: true },
      OPEN: { value: "x", secret: false },
    });
    expect((await world.prepare({ skill: "other" })).env).toEqual({});
    expect((await world.prepare({ skill: "research" }, { asked: "text" })).env).toEqual({});
  });

  test("one whose command gives nothing is a refusal too", async () => {
    const world = await invocationWorld({
      files: own("research", "env: [KEY]"),
      config: '[skills.research]\nKEY = { command = ["show", "it"] }\n',
    });
    expect((await world.prepare({ skill: "research" })).env.KEY?.value).toBe("it");
    const failing = {
      runCommand: async () => {
        throw new Error("no");
      },
      findCommand: () => "/bin/show",
      platform: "linux",
    } as const;
    const refusal = await world.refuse({ skill: "research" }, { machine: failing });
    expect(refusal).toMatchObject({ reason: "environment", data: { missing: ["KEY"] } });
  });

  verifies("case 73", "names that look like secrets are refused where the config blocks them", async () => {
    const world = await invocationWorld({
      files: { ...own("a", "env: [SOME_API_KEY, PLAIN]"), ...own("b", "env: [AUTHOR]") },
      config:
        '[skills]\nsecret-env = "block"\n[skills.a]\nSOME_API_KEY = "x"\nPLAIN = "y"\n[skills.b]\nAUTHOR = "z"\n',
    });
    expect(await world.refuse({ skill: "a" })).toMatchObject({
      reason: "environment",
      data: { blocked: ["SOME_API_KEY"] },
    });
    await world.prepare({ skill: "b" });
  });
});

describe("that its capabilities can be performed", () => {
  verifies("case 77", "needs a provider, and a user for whom", async () => {
    const world = await invocationWorld({ files: own("mail", "capabilities: [gog.email]") });
    const without = await world.refuse({ skill: "mail" });
    expect(without.reason).toBe("capabilities");
    expect(without.message).toContain("no capability provider is set up here");
    const anonymous = await world.refuse({ skill: "mail", caller: {} }, { capabilities: () => undefined });
    expect(anonymous.message).toContain("the request names none");
    await world.prepare({ skill: "mail" }, { capabilities: () => undefined });
    const denied = await world.refuse(
      { skill: "mail" },
      { capabilities: async (ids) => ({ message: `No ${ids.join()}.`, hint: "Link it.", data: {} }) },
    );
    expect(denied).toMatchObject({ reason: "capabilities", message: "No gog.email.", hint: "Link it." });
  });

  verifies([32, 179], "needs trust, its own and that of its caller; its text alone does not", async () => {
    const world = await invocationWorld({
      files: {
        ...own("mail", "capabilities: [gog.email]"),
        ...foreign("theirs", "capabilities: [gog.email]"),
      },
    });
    let asked = 0;
    const capabilities = (): undefined => void asked++;
    const refusal = await world.refuse({ skill: "theirs" }, { capabilities });
    expect(refusal).toMatchObject({ reason: "capabilities", data: { capabilities: ["gog.email"] } });
    expect(refusal.message).toContain("only a trusted skill may use");
    expect(refusal.hint).toContain("`trustedPaths`");
    const nested = { skill: "mail", callerTrust: "untrusted", chain: ["evil"] } as const;
    expect((await world.refuse(nested, { capabilities })).message).toContain("untrusted skill `evil`");
    const conversation = createConversationTrust("evil");
    const tainted = await world.refuse({ skill: "mail" }, { capabilities, conversation });
    expect(tainted.hint).toContain("in a new conversation");
    expect(asked).toBe(0);
    const { diagnostics } = await world.prepare({ skill: "theirs" }, { asked: "text" });
    expect(diagnostics.find(({ code }) => code === "invoke.withheld")?.message).toContain("`capabilities`");
  });
});

describe("that skills do not run inside one another without end", () => {
  verifies(
    [135, "case 90"],
    "a cycle is told by its real path, and two ways to one skill are none",
    async () => {
      const world = await invocationWorld({ files: { ...own("a"), ...own("d") } });
      const refusal = await world.refuse({ skill: "a", chain: ["start", "a", "b"] }, { maxDepth: 9 });
      expect(refusal).toMatchObject({ reason: "cycle", data: { path: ["a", "b", "a"] } });
      expect(refusal.message).toContain("a → b → a");
      // start → b → d and start → c → d
      await world.prepare({ skill: "d", chain: ["start", "b"] });
      await world.prepare({ skill: "d", chain: ["start", "c"] });
    },
  );

  verifies(["case 79", "case 92"], "the depth is limited, and the limit named", async () => {
    const world = await invocationWorld({ files: own("d") });
    await world.prepare({ skill: "d", chain: ["a", "b"] });
    const refusal = await world.refuse({ skill: "d", chain: ["a", "b", "c"] });
    expect(refusal).toMatchObject({ reason: "depth", data: { limit: 3 } });
    expect(refusal.message).toContain("at most 3 skills");
    expect((await world.refuse({ skill: "d", chain: ["a"] }, { maxDepth: 1 })).reason).toBe("depth");
  });
});
