import { toKebabCase } from "@metier/base/text";
import { describe, expect, test } from "vitest";
import { createWorld } from "../../../../test/support/config-world.ts";
import type { Config, RunsConfig, SandboxConfig } from "../../src/config/config.ts";
import { fieldsOf, SMALLER, UNION } from "../../src/config/config-field.ts";
import { CONFIG_FIELDS } from "../../src/config/config-fields.ts";
import { integer, oneOf, PRICE, TEXTS } from "../../src/config/value-types.ts";
import { nest, SAMPLE_FIELDS } from "./sample-values.ts";

const CONTEXT = { home: "/home/me", base: "/base" };

describe("the table of keys", () => {
  test.each(CONFIG_FIELDS.map((field) => [field.path, field] as const))(
    "%s is a sound row",
    (path, field) => {
      expect(path.replace(/<\w+>/g, "x")).toBe(toKebabCase(path.replace(/<\w+>/g, "x")));
      expect(field.description).toMatch(/^[A-Z].*\.$/);
      expect(field.type.allowed).not.toBe("");
      if (field.default !== undefined) expect(field.type.read(field.default, CONTEXT)).toEqual(field.default);
      if (field.project === "tighten") expect(field.tightening).toBeDefined();
      if (field.secret) expect(field.project).toBe("never");
      if (field.inherits) expect(CONFIG_FIELDS.map((other) => other.path)).toContain(field.inherits);
    },
  );

  test("no key and no other name of a key stands there twice", () => {
    const names = CONFIG_FIELDS.flatMap(({ path, aliases = [] }) => {
      const parent = path.slice(0, path.lastIndexOf("."));
      return [path, ...aliases.map((alias) => `${parent}.${alias}`)];
    });
    expect(names).toEqual([...new Set(names)]);
  });

  test("every key can be set, arrives in the config, and remembers its origin", async () => {
    const world = createWorld();
    for (const { segments, raw } of SAMPLE_FIELDS) {
      const overrides = [{ where: "test", values: nest(segments, raw) }];
      const { origins, diagnostics, config } = await world.load({ overrides });
      expect(diagnostics).toEqual([]);
      expect(origins.get(segments.join("."))).toMatchObject({ layer: "option", where: "test" });
      const { config: without } = await world.load();
      expect(config).not.toEqual(without);
    }
  });

  test("all keys together make this config", async () => {
    const world = createWorld();
    const overrides = SAMPLE_FIELDS.map(({ segments, raw }) => ({
      where: "test",
      values: nest(segments, raw),
    }));
    const provider = {
      enabled: false,
      namespace: "mail",
      command: ["bridge"],
      persistent: true,
      mcp: { url: "https://example.com/mcp" },
      timeoutSeconds: 7,
      env: { MAIL_TOKEN: { value: "s3cret", secret: true } },
    };
    const expected: Config = {
      skills: {
        paths: ["/team"],
        trustedPaths: ["/team"],
        preset: "mamba",
        disabled: ["gh"],
        allow: ["pdf-*"],
        allowWithin: [],
        deny: ["evil-*"],
        order: ["remote", "user", "project", "bundled", "integration", "installed", "custom"],
        autoDiscover: false,
        bundled: false,
        disabledBundled: ["gh"],
        enabledBundled: ["gh"],
        nested: true,
        namespaceTools: false,
        defaultExecution: "isolated",
        dynamicContext: true,
        secretEnv: "block",
        scriptTimeoutMs: 5,
        projectDirs: ["workspace/skills"],
        userDir: "/mine",
        pluginsDir: "/plugins",
        plugins: [{ url: "https://example.com/a", enabled: true }],
        defaults: { allowChatIds: ["1"] },
        settings: {
          mail: {
            enabled: false,
            model: "fast",
            allowChatIds: ["2"],
            env: { MAIL_TOKEN: { value: "s3cret", secret: true } },
            capabilityProvider: provider,
            sandbox: { network: ["example.org"], read: ["/letters"], write: ["/drafts"] },
          },
        },
      },
      models: {
        fast: {
          provider: "openai",
          model: "m",
          baseUrl: "https://example.com",
          apiKeyEnv: "KEY",
          apiKey: "s3cret",
          apiKeyCommand: ["pass", "show"],
          inputPrice: 3,
          outputPrice: 15.5,
          lean: true,
          contextTokens: 16384,
          path: "/models/hello.gguf",
          package: "/opt/llama",
          program: "/usr/local/bin/claude",
          acceptedTerms: "2026-11-16",
        },
      },
      capabilities: { providers: { mail: provider }, rateLimit: 7 },
      mcp: {
        servers: {
          docs: {
            enabled: false,
            command: ["skill-server"],
            url: "https://example.com/mcp",
            bearer: { value: "s3cret", secret: true },
            timeoutSeconds: 7,
            env: { MAIL_TOKEN: { value: "s3cret", secret: true } },
          },
        },
      },
      tools: { bash: "deny" },
      policyTools: {},
      policyRuns: {},
      sandbox: {
        backend: "bubblewrap",
        network: ["example.com"],
        read: ["/data"],
        write: ["/out"],
        programs: ["python3"],
        memoryMb: 512,
        processes: 32,
        workMb: 64,
      },
      install: { privateHosts: ["git.corp.example"] },
      scan: { block: "high", ignore: ["tools.hooks"], baseline: ["/srv/accepted.json"] },
      environments: {
        build: false,
        pythonIndex: "https://python.example.com/simple/",
        nodeRegistry: "https://node.example.com/",
      },
      runs: {
        maxIterations: 4,
        timeoutSeconds: 30,
        maxTokens: 5000,
        maxCost: 0.5,
        maxCostPerDay: 5,
        maxOutputBytes: 4096,
        maxDepth: 2,
        outputFilter: "block",
      },
    };
    expect((await world.load({ overrides })).config).toEqual(expected);
  });
});

/** `tsc` is what tests these: each line that it must refuse says so. */
describe("the compiler holds the table against the config", () => {
  const megabytes = integer(1, 9, "megabytes");
  const row = { description: "Memory.", project: "ignore" } as const;

  test("a row whose type is not the property's", () => {
    const rows = fieldsOf<Pick<SandboxConfig, "memoryMb">>("sandbox", {
      // @ts-expect-error: a list of texts is no number
      "memory-mb": { ...row, type: TEXTS, default: 4 },
    });
    expect(rows.map(({ path }) => path)).toEqual(["sandbox.memory-mb"]);
  });

  test("a choice that the property does not have, or one that is missing", () => {
    fieldsOf<Pick<RunsConfig, "outputFilter">>("runs", {
      // @ts-expect-error: there is no `warn`
      "output-filter": { ...row, type: oneOf("off", "mark", "block", "warn"), default: "off" },
    });
    fieldsOf<Pick<RunsConfig, "outputFilter">>("runs", {
      // @ts-expect-error: `block` cannot be set
      "output-filter": { ...row, type: oneOf("off", "mark"), default: "off" },
    });
    expect(CONFIG_FIELDS.some(({ path }) => path === "runs.output-filter")).toBe(true);
  });

  test("a default or a tightening of another type, a default that is missing, and one too many", () => {
    type Memory = Pick<SandboxConfig, "memoryMb">;
    // @ts-expect-error: the default is a text
    fieldsOf<Memory>("sandbox", { "memory-mb": { ...row, type: megabytes, default: "4" } });
    // @ts-expect-error: lists are added to, numbers are not
    fieldsOf<Memory>("sandbox", { "memory-mb": { ...row, type: megabytes, default: 4, tightening: UNION } });
    // @ts-expect-error: the config always has it
    fieldsOf<Memory>("sandbox", { "memory-mb": { ...row, type: megabytes, tightening: SMALLER } });
    // @ts-expect-error: the config has it only when someone sets it
    fieldsOf<Pick<RunsConfig, "maxCost">>("runs", { "max-cost": { ...row, type: PRICE, default: 1 } });
    expect(CONFIG_FIELDS.find(({ path }) => path === "sandbox.memory-mb")?.tightening).toBe(SMALLER);
  });

  test("a property without a row, and a row without a property", () => {
    // @ts-expect-error: `processes` has no row
    fieldsOf<Pick<SandboxConfig, "memoryMb" | "processes">>("sandbox", {
      "memory-mb": { ...row, type: megabytes, default: 4 },
    });
    fieldsOf<Pick<SandboxConfig, "memoryMb">>("sandbox", {
      "memory-mb": { ...row, type: megabytes, default: 4 },
      // @ts-expect-error: no such property
      "memory-gb": { ...row, type: megabytes, default: 4 },
    });
    expect(CONFIG_FIELDS.some(({ path }) => path === "sandbox.memory-gb")).toBe(false);
  });
});
