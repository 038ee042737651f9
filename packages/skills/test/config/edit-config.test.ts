import { lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "@metier/base/errors";
import { describe, expect, test } from "vitest";
import { createWorld } from "../../../../test/support/config-world.ts";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import {
  addToConfigList,
  parseConfigValue,
  removeFromConfigList,
  setConfigValue,
  unsetConfigValue,
} from "../../src/config/edit-config.ts";
import { SAMPLE_FIELDS } from "./sample-values.ts";

const TOML = `# my config
[skills] # general
disabled = ["gh"] # not needed here
# keep this on
auto_discover = true

[skills.research] # mine
enabled = true
TOKEN = "s3cret"
`;

const YAML = `# my config
skills:
  # why
  disabled:
    - gh # not needed here
    - aws
  research: {enabled: true} # mine
  mail:
`;

const JSON_TEXT = '{\n\t"skills": {\n\t\t"disabled": ["gh"]\n\t}\n}\n';

function fileWith(text: string | undefined, name = "config.toml"): string {
  const file = join(temporaryFolder(), name);
  if (text !== undefined) writeFileSync(file, text);
  return file;
}

const read = (file: string): string => readFileSync(file, "utf8");

describe("setting a value", () => {
  test("changes one line of TOML and keeps every comment", async () => {
    const file = fileWith(TOML);
    expect(await setConfigValue({ file, path: ["skills", "research", "enabled"], value: false })).toBe(true);
    expect(read(file)).toBe(TOML.replace("enabled = true", "enabled = false"));
  });

  test("keeps the spelling that is there, and answers that nothing changed when nothing did", async () => {
    const file = fileWith(TOML);
    expect(await setConfigValue({ file, path: ["skills", "auto-discover"], value: true })).toBe(false);
    expect(await setConfigValue({ file, path: ["skills", "autoDiscover"], value: false })).toBe(true);
    expect(read(file)).toBe(TOML.replace("auto_discover = true", "auto_discover = false"));
  });

  test("leaves one of several spellings", async () => {
    const file = fileWith('[skills]\ncustom_paths = ["/a"]\npaths = ["/b"]\n');
    await setConfigValue({ file, path: ["skills", "paths"], value: ["/c"] });
    expect(read(file)).toBe('[skills]\ncustom_paths = ["/c"]\n');
  });

  test("makes tables as sections, in canonical spelling", async () => {
    const file = fileWith(TOML);
    await setConfigValue({ file, path: ["models", "fast", "baseUrl"], value: "http://x" });
    await setConfigValue({
      file,
      path: ["skills", "gog", "capability_provider", "timeout_seconds"],
      value: 5,
    });
    await setConfigValue({ file, path: ["tools", "bash(git:*)"], value: "allow" });
    const text = read(file);
    expect(text.startsWith(TOML)).toBe(true);
    expect(text).toContain('[models.fast]\nbase-url = "http://x"\n');
    expect(text).toContain("[skills.gog.capability-provider]\ntimeout-seconds = 5\n");
    expect(text).toContain('[tools]\n"bash(git:*)" = "allow"\n');
  });

  test("writes below the table as it is spelled", async () => {
    const file = fileWith("[skills.gog.capability_provider]\nenabled = true\n");
    await setConfigValue({ file, path: ["skills", "gog", "capability-provider", "namespace"], value: "g" });
    expect(read(file)).toBe('[skills.gog.capability_provider]\nenabled = true\nnamespace = "g"\n');
  });

  test("keeps the comments of YAML and fills an empty key", async () => {
    const file = fileWith(YAML, "config.yaml");
    await setConfigValue({ file, path: ["skills", "research", "enabled"], value: false });
    await setConfigValue({ file, path: ["skills", "mail", "model"], value: "fast" });
    expect(read(file)).toBe(
      YAML.replace("{enabled: true}", "{ enabled: false }").replace(
        "  mail:\n",
        "  mail:\n    model: fast\n",
      ),
    );
  });

  test("keeps the indentation of JSON", async () => {
    const file = fileWith(JSON_TEXT, "config.json");
    await setConfigValue({ file, path: ["skills", "nested"], value: true });
    expect(read(file)).toBe(
      '{\n\t"skills": {\n\t\t"disabled": [\n\t\t\t"gh"\n\t\t],\n\t\t"nested": true\n\t}\n}\n',
    );
  });

  test.each(["config.toml", "config.yaml", "config.json"])(
    "round-trips every key of the table in %s",
    async (name) => {
      const world = createWorld();
      const file = join(world.project, ".metier", name);
      for (const { segments, raw } of SAMPLE_FIELDS)
        await setConfigValue({ file, path: segments, value: raw });
      const { origins, diagnostics } = await world.load({ projectGrant: () => true });
      const credentials = SAMPLE_FIELDS.filter(({ field }) => field.project === "never").length;
      expect(diagnostics.map(({ code }) => code)).toEqual(Array(credentials).fill("config.user-only"));
      const set = [...origins].filter(([, origin]) => origin.where === file);
      expect(set).toHaveLength(SAMPLE_FIELDS.length - credentials);
      for (const { segments } of SAMPLE_FIELDS)
        expect(await unsetConfigValue({ file, path: segments })).toBe(true);
      const emptied = await world.load({ projectGrant: () => true });
      expect([...emptied.origins.values()].some(({ layer }) => layer === "project")).toBe(false);
    },
  );

  test("makes a new file 0600 in a folder that is 0700", async () => {
    const file = join(temporaryFolder(), ".metier", "config.toml");
    await setConfigValue({ file, path: ["skills", "nested"], value: true });
    expect(read(file)).toBe("[skills]\nnested = true\n");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(file, "..")).mode & 0o777).toBe(0o700);
  });

  test("writes through a link and leaves the link in place", async () => {
    const folder = temporaryFolder();
    const [target, file] = [join(folder, "dotfiles.toml"), join(folder, "config.toml")];
    writeFileSync(target, "[skills]\n");
    symlinkSync(target, file);
    await setConfigValue({ file, path: ["skills", "nested"], value: true });
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(read(target)).toBe("[skills]\nnested = true\n");
  });
});

describe("lists", () => {
  test("entries are added and removed once, and comments stay", async () => {
    const file = fileWith(TOML);
    const path = ["skills", "disabled"];
    expect(await addToConfigList({ file, path, item: "aws" })).toBe(true);
    expect(await addToConfigList({ file, path, item: "aws" })).toBe(false);
    expect(read(file)).toContain('disabled = ["gh", "aws"] # not needed here');
    expect(await removeFromConfigList({ file, path, item: "gh" })).toBe(true);
    expect(await removeFromConfigList({ file, path, item: "gh" })).toBe(false);
    expect(read(file)).toContain('disabled = ["aws"] # not needed here');
  });

  test("entries of YAML keep their comments", async () => {
    const file = fileWith(YAML, "config.yaml");
    const path = ["skills", "disabled"];
    await removeFromConfigList({ file, path, item: "aws" });
    await addToConfigList({ file, path, item: "pdf" });
    expect(read(file)).toContain("  # why\n  disabled:\n    - gh # not needed here\n    - pdf\n");
  });

  test("a list that is not there is made, and one written as a text becomes a list", async () => {
    const file = fileWith('[skills]\npaths = "/a"\n');
    await addToConfigList({ file, path: ["skills", "paths"], item: "/b" });
    await addToConfigList({ file, path: ["skills", "deny"], item: "x" });
    expect(read(file)).toBe('[skills]\npaths = ["/a", "/b"]\ndeny = ["x"]\n');
  });

  test("removing from a list that is not there writes nothing", async () => {
    const file = fileWith(undefined);
    expect(await removeFromConfigList({ file, path: ["skills", "deny"], item: "x" })).toBe(false);
    expect(() => statSync(file)).toThrow("ENOENT");
  });
});

describe("removing a value", () => {
  test("leaves the rest as it was", async () => {
    const file = fileWith(TOML);
    expect(await unsetConfigValue({ file, path: ["skills", "research", "TOKEN"] })).toBe(true);
    expect(await unsetConfigValue({ file, path: ["skills", "research", "TOKEN"] })).toBe(false);
    expect(read(file)).toBe(TOML.replace('TOKEN = "s3cret"\n', ""));
  });
});

describe("what is refused", () => {
  const refusal = async (work: Promise<unknown>): Promise<ConfigError> => {
    const fault = await work.catch((caught) => caught);
    expect(fault).toBeInstanceOf(ConfigError);
    return fault as ConfigError;
  };

  test("an unknown key, with a suggestion", async () => {
    const file = fileWith(TOML);
    const fault = await refusal(setConfigValue({ file, path: ["skills", "disable"], value: [] }));
    expect(fault).toMatchObject({
      message: "`skills.disable` is not a config key.",
      hint: "Did you mean `disabled`?",
    });
    expect(read(file)).toBe(TOML);
  });

  test("a table, naming its keys", async () => {
    const fault = await refusal(setConfigValue({ file: fileWith(TOML), path: ["sandbox"], value: "x" }));
    expect(fault.message).toBe("`sandbox` is a table, not a value.");
    expect(fault.hint).toBe(
      "Known here: `backend`, `network`, `read`, `write`, `programs`, `memory-mb`, `processes`, `work-mb`.",
    );
  });

  test("a wrong value, naming the allowed ones, and never a secret", async () => {
    const file = fileWith(TOML);
    const fault = await refusal(setConfigValue({ file, path: ["tools", "bash"], value: "maybe" }));
    expect(fault).toMatchObject({
      message: '`tools.bash` cannot be "maybe".',
      hint: "Allowed: `allow`, `ask`, `deny`.",
    });
    const secret = await refusal(
      setConfigValue({ file, path: ["models", "x", "api-key"], value: ["s3cret"] }),
    );
    expect(JSON.stringify(secret)).not.toContain("s3cret");
  });

  test("an entry for what is no list", async () => {
    const fault = await refusal(
      addToConfigList({ file: fileWith(""), path: ["skills", "nested"], item: "x" }),
    );
    expect(fault.message).toBe("`skills.nested` is not a list.");
  });

  test("credentials in a project file", async () => {
    const path = ["skills", "mail", "MAIL_TOKEN"];
    const fault = await refusal(
      setConfigValue({ file: fileWith(""), path, value: "s3cret", target: "project" }),
    );
    expect(fault.message).toBe("`skills.mail.MAIL_TOKEN` is read only from the user file.");
  });

  test("a broken file, with its line, and it stays as it is", async () => {
    const file = fileWith("[skills]\nnested =\n");
    const fault = await refusal(setConfigValue({ file, path: ["skills", "nested"], value: true }));
    expect(fault.message).toContain("line 2");
    expect(fault.path).toBe(file);
    expect(read(file)).toBe("[skills]\nnested =\n");
  });

  test("a place that is taken by a value", async () => {
    const file = fileWith("skills = 3\n");
    const fault = await refusal(setConfigValue({ file, path: ["skills", "nested"], value: true }));
    expect(fault.message).toBe(`\`skills\` in \`${file}\` is not a table.`);
  });

  test("a folder in place of the file", async () => {
    const file = fileWith(undefined);
    mkdirSync(file);
    await refusal(setConfigValue({ file, path: ["skills", "nested"], value: true }));
  });

  test("text the key's type does not understand", () => {
    expect(() => parseConfigValue(["skills", "paths"], "[a")).toThrow('`skills.paths` cannot be "[a".');
  });
});

describe("text from the command line", () => {
  test.each([
    ["skills.nested", "yes", true],
    ["skills.paths", "~/a,b", ["~/a", "b"]],
    ["skills.script-timeout", "50", 50],
    ["skills.mail.TOKEN", "x", "x"],
    ["capabilities.providers.mail.command", "bridge serve", "bridge serve"],
  ])("%s %s is taken by the key's type, as a file would hold it", (path, text, value) => {
    expect(parseConfigValue(path.split("."), text)).toEqual(value);
  });
});

test("edits at the same time all arrive", async () => {
  const file = fileWith(TOML);
  const names = ["a", "b", "c", "d", "e"];
  await Promise.all(names.map((item) => addToConfigList({ file, path: ["skills", "disabled"], item })));
  for (const name of names) expect(read(file)).toContain(`"${name}"`);
});
