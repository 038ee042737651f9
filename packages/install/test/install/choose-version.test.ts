import { describe, expect, test } from "vitest";
import { chooseVersion } from "../../src/install/npm/fetch-npm.ts";

const KNOWN = {
  versions: [
    "0.0.3",
    "0.0.4",
    "0.2.3",
    "0.2.9",
    "0.3.0",
    "1.2.3",
    "1.2.10",
    "1.3.0",
    "1.4.0-beta.2",
    "1.4.0-beta.11",
    "2.0.0",
  ],
  tags: { latest: "1.3.0", next: "1.4.0-beta.11", gone: "9.9.9" },
};

describe("which version is meant", () => {
  test.each([
    ["latest", "1.3.0"],
    ["next", "1.4.0-beta.11"],
    ["1.2.3", "1.2.3"],
    ["v1.2.3", "1.2.3"],
    ["1.4.0-beta.2", "1.4.0-beta.2"],
    ["^1.2.3", "1.3.0"],
    ["^1.2", "1.3.0"],
    ["^0.2.3", "0.2.9"],
    ["^0.0.3", "0.0.3"],
    ["^0", "0.3.0"],
    ["~1.2.3", "1.2.10"],
    ["~1.2", "1.2.10"],
    ["~0.2", "0.2.9"],
    ["1", "1.3.0"],
    ["1.x", "1.3.0"],
    ["1.2.*", "1.2.10"],
    ["2.x.x", "2.0.0"],
    ["*", "1.3.0"],
    ["^1.4.0-beta.1", "1.4.0-beta.11"],
  ])("%s is %s", (asked, version) => {
    expect(chooseVersion(asked, KNOWN)).toEqual({ ok: true, value: version });
  });

  test.each(["3.0.0", "^3", "~1.5.0", "beta", "gone", "1.4.0", "1.4.x"])("there is none for %s", (asked) => {
    expect(chooseVersion(asked, KNOWN)).toEqual({ ok: false, refusal: "none" });
  });

  test.each([">=1.0.0", "1 || 2", "1.2.3 - 2", "01.2.3", "^^1", "", "constructor "])(
    "%j is not supported",
    (asked) => {
      expect(chooseVersion(asked, KNOWN)).toEqual({ ok: false, refusal: "unsupported" });
    },
  );

  test("a name of every object is no tag", () => {
    expect(chooseVersion("constructor", KNOWN)).toEqual({ ok: false, refusal: "none" });
  });
});
