import { describe, expect, test } from "vitest";
import { createPathHider } from "../../src/events/hide-paths.ts";

function hider(): ReturnType<typeof createPathHider> {
  const paths = createPathHider();
  paths.hide("/home/ada", "~");
  paths.hide("/home/ada/shop", ".");
  paths.hide("/app", "skill:pdf");
  return paths;
}

describe("the folders of a server", () => {
  test.each([
    ["In /home/ada/shop/a.txt.", "In ./a.txt."],
    ["/home/ada/shopping and /home/ada/x", "~/shopping and ~/x"],
    ["file:///home/ada/shop", "file://."],
    ['{"cwd":"/home/ada"}', '{"cwd":"~"}'],
    ["/app/run.py but https://example.org/app", "skill:pdf/run.py but https://example.org/app"],
    ["/etc/hosts and /home/adam stay", "/etc/hosts and /home/adam stay"],
    ["no path", "no path"],
  ])("%s", (text, shown) => {
    expect(hider().clean(text)).toBe(shown);
  });

  test("are hidden wherever a text is cut into pieces", () => {
    const text = "See /home/ada/shop/a.txt, https://x.org/app and /home/ada/";
    const whole = hider().clean(text);
    for (let first = 0; first <= text.length; first += 1) {
      for (let second = first; second <= text.length; second += 3) {
        const paths = hider();
        const pieces = [text.slice(0, first), text.slice(first, second), text.slice(second)];
        expect(pieces.map((piece) => paths.push(piece)).join("") + paths.end()).toBe(whole);
      }
    }
  });

  test("are hidden in every text of a value, and a cut text begins anew", () => {
    const paths = hider();
    expect(paths.cleanJson({ "/home/ada": ["/app/x", 1, null, { deep: "/home/ada/shop" }] })).toEqual({
      "~": ["skill:pdf/x", 1, null, { deep: "." }],
    });
    const nested = JSON.parse(`${"[".repeat(300)}"/home/ada"${"]".repeat(300)}`);
    expect(JSON.stringify(paths.cleanJson(nested))).toContain("nested too deeply");
    expect(paths.push("x/home")).toBe("x");
    expect(paths.end()).toBe("/home");
    expect(paths.push("/app")).toBe("");
    expect(paths.end()).toBe("skill:pdf");
  });

  test("are found among thousands of others, the longest first, whole and in pieces", () => {
    const paths = hider();
    for (let index = 0; index < 3_000; index += 1) {
      paths.hide(`/home/ada/state/skills/skill-${index}`, `upload:${index}`);
    }
    const shown = [
      ["/home/ada/state/skills/skill-7/SKILL.md", "upload:7/SKILL.md"],
      ["/home/ada/state/skills/skill-70/SKILL.md", "upload:70/SKILL.md"],
      ["/home/ada/state/skills/skill-700x", "~/state/skills/skill-700x"],
      ["/home/ada/state/skills/skill-", "~/state/skills/skill-"],
      ["/home/ada/state/skills/skill-2999", "upload:2999"],
      ["//home/ada/shop /home/ad", "/. /home/ad"],
    ] as const;
    const text = shown.map(([path]) => path).join(" and ");
    const expected = shown.map(([, short]) => short).join(" and ");
    expect(paths.clean(text)).toBe(expected);
    for (const size of [1, 7, 50]) {
      const pieces = text.match(new RegExp(`.{1,${size}}`, "g")) ?? [];
      expect(pieces.map((piece) => paths.push(piece)).join("") + paths.end()).toBe(expected);
    }
    const long = `${"/home/ada/state/skills/skill-1234/x ".repeat(20_000)}`;
    expect(paths.clean(long)).toBe("upload:1234/x ".repeat(20_000));
  });

  test("that are added later are hidden from then on, and keep their first name", () => {
    const paths = hider();
    expect(paths.clean("/srv/b/x")).toBe("/srv/b/x");
    paths.hide("/srv/b/", "b");
    paths.hide("/srv/b", "other");
    paths.hide("/srv", "s");
    expect(paths.clean("/srv/b/x /srv/c")).toBe("b/x s/c");
  });
});
