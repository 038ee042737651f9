import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "@metier/base/errors";
import fc from "fast-check";
import { stringify } from "smol-toml";
import { describe, expect, test } from "vitest";
import { createWorld, onlyDiagnostic } from "../../../../test/support/config-world.ts";
import { nest, SAMPLE_FIELDS } from "./sample-values.ts";

/** Sample values that make nothing stricter although their key could. */
const LOOSENING = new Set(["skills.nested", "skills.namespace-tools", "skills.dynamic-context"]);

describe("the policy", () => {
  test.each(SAMPLE_FIELDS.map((sample) => [sample.segments.join("."), sample] as const))(
    "%s can be set when it tightens; otherwise it is an error",
    async (key, { field, segments, raw }) => {
      const world = createWorld({ policy: stringify(nest(segments, raw)) });
      const { diagnostics, config } = await world.load();
      if (field.tightening && !LOOSENING.has(field.path)) {
        expect(diagnostics).toEqual([]);
        return;
      }
      expect(config).toEqual((await createWorld().load()).config);
      const diagnostic = onlyDiagnostic({ diagnostics });
      expect(diagnostic).toMatchObject({
        code: "config.policy-cannot-tighten",
        severity: "error",
        path: world.policyFile,
      });
      expect(diagnostic.message).toContain(`\`${key} = `);
      expect(diagnostic.line).toBeGreaterThan(0);
    },
  );

  test("is combined with what users set, and no layer gets past it", async () => {
    const loose = {
      skills: {
        disabled: ["a"],
        allow: ["pdf-*"],
        deny: [],
        bundled: true,
        "script-timeout-ms": 90,
        "default-execution": "inline",
        mail: { enabled: true },
      },
      tools: { bash: "allow", web: "deny" },
      sandbox: { backend: "none", network: ["*"], programs: ["python3", "ruby"] },
    };
    const world = createWorld({
      user: stringify(loose),
      project: stringify(loose),
      policy: [
        '[skills]\ndisabled = ["b"]\nallow = ["*-forms"]\ndeny = ["evil-*"]\nbundled = false',
        'script-timeout-ms = 50\ndefault-execution = "auto"',
        "[skills.mail]\nenabled = false",
        '[tools]\nbash = "ask"\nweb = "ask"\nread = "deny"',
        '[sandbox]\nbackend = "auto"\nnetwork = ["example.com"]\nprograms = ["ruby", "perl"]',
      ].join("\n"),
    });
    const { config, diagnostics, origins } = await world.load({
      projectGrant: () => true,
      environment: {
        METIER_TOOLS__BASH: "allow",
        METIER_SANDBOX__BACKEND: "none",
        METIER_SKILLS__DISABLED: "",
      },
      overrides: [{ where: "--flag", values: loose }],
    });
    expect(diagnostics).toEqual([]);
    expect(config.skills).toMatchObject({
      disabled: ["a", "b"],
      allow: ["pdf-*"],
      allowWithin: [["*-forms"]],
      deny: ["evil-*"],
      bundled: false,
      scriptTimeoutMs: 50,
      defaultExecution: "auto",
      settings: { mail: { enabled: false } },
    });
    expect(config.tools).toEqual({ bash: "ask", web: "deny", read: "deny" });
    expect(config.policyTools).toEqual({ bash: "ask", web: "ask", read: "deny" });
    expect(config.sandbox).toMatchObject({ backend: "auto", network: ["example.com"], programs: ["ruby"] });
    expect(origins.get("tools.bash")).toMatchObject({ layer: "policy", tightens: true, value: "ask" });
    expect(origins.get("tools.web")).toMatchObject({ layer: "option", value: "deny" });
  });

  test("cannot be chosen or changed by the environment or a flag", async () => {
    const world = createWorld({ policy: '[tools]\nbash = "deny"\n', "etc/other.toml": "" });
    const environment = {
      METIER_POLICY: join(world.root, "etc/other.toml"),
      METIER_POLICY_FILE: "/dev/null",
    };
    expect((await world.load({ environment })).config.tools.bash).toBe("deny");
  });

  test("keeps its chats for every skill, also one whose own list is empty or disjoint", async () => {
    const world = createWorld({
      user: "[skills.open]\nallow-chat-ids = []\n[skills.other]\nallow-chat-ids = ['9']\n[skills.some]\nallow-chat-ids = ['1', '9']\n",
      policy: "[skills.defaults]\nallow-chat-ids = ['1', '2']\n",
    });
    const { skills } = (await world.load()).config;
    expect(skills.defaults.allowChatIds).toEqual(["1", "2"]);
    expect(skills.settings.open?.allowChatIds).toEqual(["1", "2"]);
    expect(skills.settings.other?.allowChatIds).toEqual(["1", "2"]);
    expect(skills.settings.some?.allowChatIds).toEqual(["1"]);
  });

  test("narrows folders by their real paths, so that a link does not lead out of them", async () => {
    const world = createWorld();
    const allowed = join(world.root, "allowed");
    for (const folder of ["allowed/team/deep", "secret"])
      mkdirSync(join(world.root, folder), { recursive: true });
    symlinkSync(join(world.root, "secret"), join(allowed, "link"));
    const paths = ["allowed/team", "allowed/link", "secret", "."].map((path) => join(world.root, path));
    const policy = stringify({
      skills: { "trusted-paths": [join(allowed, "team/deep"), join(allowed, "link")] },
    });
    const limited = createWorld({ user: stringify({ skills: { "trusted-paths": paths, paths } }), policy });
    const { skills } = (await limited.load()).config;
    expect(skills.trustedPaths).toEqual([join(allowed, "team/deep"), join(world.root, "secret")]);
    expect(skills.paths).toEqual(paths);

    const outside = createWorld({
      user: stringify({ skills: { "trusted-paths": [join(allowed, "link")] } }),
      policy: stringify({ skills: { "trusted-paths": [join(allowed, "team")] } }),
    });
    const loaded = await outside.load();
    expect(loaded.config.skills.trustedPaths).toEqual([]);
    expect(onlyDiagnostic(loaded)).toMatchObject({
      code: "config.policy-drops-path",
      severity: "warning",
      path: join(allowed, "link"),
      message: expect.stringContaining(`the policy ${outside.policyFile}:2 has \`skills.trusted-paths = `),
    });
  });

  test("that cannot be read stops everything: it could not be obeyed", async () => {
    const world = createWorld({ policy: "[tools\n" });
    await expect(world.load()).rejects.toThrow(ConfigError);
    await expect(world.load()).rejects.toMatchObject({
      path: world.policyFile,
      hint: expect.stringContaining("administrator"),
    });
  });

  test("never ends looser than it says, whatever the layers below hold", async () => {
    const answer = fc.constantFrom("allow", "ask", "deny");
    const backend = fc.constantFrom("none", "just-bash", "auto", "sandbox-runtime", "bubblewrap");
    const domains = fc.uniqueArray(fc.constantFrom("*", "*.a.org", "x.a.org", "*.x.a.org", "b.org", "a.org"));
    const layer = fc.record({
      skills: fc.record({ "script-timeout-ms": fc.integer({ min: 1, max: 9 }), nested: fc.boolean() }),
      tools: fc.record({ bash: answer }),
      sandbox: fc.record({ backend, network: domains }),
    });
    const world = createWorld();
    const rank = (word: string): number => ["allow", "ask", "deny"].indexOf(word);
    await fc.assert(
      fc.asyncProperty(layer, layer, async (below, limits) => {
        const policyWorld = createPolicyFile(world.root, stringify(limits));
        const { config } = await world.load({
          overrides: [{ where: "--x", values: below }],
          policyFile: policyWorld,
        });
        expect(config.skills.scriptTimeoutMs).toBeLessThanOrEqual(limits.skills["script-timeout-ms"]);
        expect(rank(config.tools.bash ?? "allow")).toBeGreaterThanOrEqual(rank(limits.tools.bash));
        if (limits.sandbox.backend !== "none") expect(config.sandbox.backend).not.toBe("none");
        for (const domain of config.sandbox.network) {
          for (const list of [below.sandbox.network, limits.sandbox.network])
            expect(list.some((wide) => covers(wide, domain))).toBe(true);
        }
        return true;
      }),
      { numRuns: 60 },
    );
  });
});

function createPolicyFile(root: string, text: string): string {
  const file = join(root, "policy.toml");
  writeFileSync(file, text);
  return file;
}

function covers(wide: string, domain: string): boolean {
  return wide === "*" || wide === domain || (wide.startsWith("*.") && domain.endsWith(wide.slice(1)));
}
