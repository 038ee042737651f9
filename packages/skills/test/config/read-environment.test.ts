import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createWorld, onlyDiagnostic } from "../../../../test/support/config-world.ts";
import { verifies } from "../../../../test/support/verifies.ts";

describe("the environment", () => {
  test("sets any key, typed by the table", async () => {
    const world = createWorld();
    const { config, diagnostics } = await world.load({
      environment: {
        METIER_SKILLS__AUTO_DISCOVER: "off",
        METIER_SKILLS__PATHS: "~/a, b ,/c",
        METIER_SKILLS__DISABLED: '["x, y", "z"]',
        METIER_SKILLS__SCRIPT_TIMEOUT_MS: "1500",
        METIER_SKILLS__CODE_REVIEW__ENABLED: "1",
        METIER_SKILLS__CODE_REVIEW__MODEL: "fast",
        METIER_SKILLS__CODE_REVIEW__REVIEW_TOKEN: "t",
        METIER_SKILLS__MAIL__CAPABILITY_PROVIDER__COMMAND: "bridge 'a b'",
        METIER_MODELS__FAST__BASE_URL: "http://localhost:1",
        METIER_TOOLS__RUN_SCRIPT: "deny",
        METIER_SANDBOX__NETWORK: "",
      },
    });
    expect(diagnostics).toEqual([]);
    expect(config.skills).toMatchObject({
      autoDiscover: false,
      paths: [join(world.home, "a"), join(world.project, "b"), "/c"],
      disabled: ["x, y", "z"],
      scriptTimeoutMs: 1500,
      settings: {
        "code-review": { enabled: true, model: "fast", env: { REVIEW_TOKEN: { value: "t", secret: true } } },
        mail: { capabilityProvider: { command: ["bridge", "a b"] } },
      },
    });
    expect(config.models.fast?.baseUrl).toBe("http://localhost:1");
    expect(config.tools).toEqual({ run_script: "deny" });
    expect(config.sandbox.network).toEqual([]);
  });

  test("without a double underscore is not config", async () => {
    const environment = {
      METIER_HOME: "/x",
      METIER_REQUIRE_SANDBOX: "1",
      METIER_MCP_TOKEN: "t",
      METIER__X: "1",
      OTHER__X: "1",
    };
    expect((await createWorld().load({ environment })).diagnostics).toEqual([]);
  });

  test("with an unknown key is a warning with a suggestion", async () => {
    const loaded = await createWorld().load({ environment: { METIER_SKILLS__TRUSTED_PATH: "s3cret" } });
    expect(onlyDiagnostic(loaded)).toEqual({
      code: "config.unknown-variable",
      severity: "warning",
      message:
        "The environment variable `METIER_SKILLS__TRUSTED_PATH` does not match a config key and is ignored.",
      path: "METIER_SKILLS__TRUSTED_PATH",
      hint: "Did you mean `METIER_SKILLS__TRUSTED_PATHS`?",
    });
  });

  test.each([
    ["METIER_SKILLS__NESTED", "maybe", '"maybe"; allowed: `true` or `false`'],
    ["METIER_SKILLS__PATHS", "[1", '"[1"; allowed: a list of paths'],
    ["METIER_SKILLS__SCRIPT_TIMEOUT_MS", "1.5", '"1.5"; allowed: a whole number'],
    ["METIER_MODELS__X__API_KEY", " ", "••••; allowed: a non-empty string"],
  ])("%s=%s is an error that says what is allowed", async (name, text, message) => {
    const loaded = await createWorld().load({ environment: { [name]: text } });
    expect(onlyDiagnostic(loaded).message).toContain(message);
  });

  verifies(168, "of Mamba sets the same keys under its preset, and Metier's own beats it", async () => {
    const environment = {
      MAMBA_SKILLS__AUTO_DISCOVER: "false",
      MAMBA_SKILLS__NAMESPACE_TOOLS: "false",
      METIER_SKILLS__NAMESPACE_TOOLS: "true",
    };
    const world = createWorld();
    const { config, diagnostics, origins } = await world.load({ environment, preset: "mamba" });
    expect(diagnostics).toEqual([]);
    expect(config.skills).toMatchObject({ preset: "mamba", autoDiscover: false, namespaceTools: true });
    expect(origins.get("skills.auto-discover")).toMatchObject({
      layer: "environment",
      where: "MAMBA_SKILLS__AUTO_DISCOVER",
    });
    expect((await world.load({ environment })).config.skills.autoDiscover).toBe(true);
  });
});
