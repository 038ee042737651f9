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
});
