import { existsSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { smallWorld } from "./small-world.ts";

describe("write_file", () => {
  test("makes a file and the folders above it", async () => {
    const { project, text } = smallWorld();
    expect(await text("write_file", { path: "a/b/c.txt", content: "é\r\n" })).toBe(
      "Wrote 4 bytes to `a/b/c.txt`.",
    );
    expect(readFileSync(join(project, "a/b/c.txt"), "utf8")).toBe("é\r\n");
  });

  test("replaces a file and keeps its mode", async () => {
    const { project, text } = smallWorld({ "run.sh": "old" });
    const { mode } = statSync(join(project, "run.sh"));
    await text("write_file", { path: "run.sh", content: "" });
    expect(readFileSync(join(project, "run.sh"), "utf8")).toBe("");
    expect(statSync(join(project, "run.sh")).mode).toBe(mode);
  });

  test("writes to the work folder by its absolute path", async () => {
    const { world, text } = smallWorld();
    await text("write_file", { path: join(world.workDir, "out.txt"), content: "x" });
    expect(readFileSync(join(world.workDir, "out.txt"), "utf8")).toBe("x");
  });

  test.each([
    "../outside.txt",
    "../skill/SKILL.md",
    "protected/hook",
    "masked/a",
    ".env",
    "link/escaped.txt",
    "folder",
  ])("refuses `%s` and changes nothing", async (path) => {
    const { root, project, call, write } = smallWorld({ "folder/a": "a" });
    write({ "../elsewhere/b": "b" });
    symlinkSync(join(root, "elsewhere"), join(project, "link"));
    const before = existsSync(join(project, path));
    expect(await call("write_file", { path, content: "hostile" })).toMatchObject({ isError: true });
    expect(existsSync(join(project, path))).toBe(before);
    expect(existsSync(join(root, "elsewhere/escaped.txt"))).toBe(false);
  });

  test("says where the run may write", async () => {
    const { world, call } = smallWorld();
    const { text } = await call("write_file", { path: "../skill/a.txt", content: "x" });
    expect(text).toContain(
      `is not writable for this run; write inside \`${world.cwd}\`, \`${world.workDir}\``,
    );
  });
});
