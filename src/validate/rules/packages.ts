/** Packages are named as Debian names them. Anything else is left out, so that nothing but names reaches apt. */
import { isPackageName } from "../../skill/package-name.ts";
import { keyOf } from "../read-fields.ts";
import { showValue } from "../report.ts";
import type { Rule } from "../rule.ts";

export const packagesRule: Rule = {
  codes: ["package.name"],
  fields: ["packages"],
  check({ draft, fields }, report) {
    const key = keyOf(fields.known, "packages");
    draft.packages = draft.packages.filter((name) => {
      if (isPackageName(name)) return true;
      report(
        "package.name",
        `\`${key}\` has ${showValue(name)}, which is not the name of a Debian package.`,
        {
          key,
          hint: "Write the name alone, without a version: lower-case letters, digits, `+`, `-` and `.`, as in `jq`; this one is left out.",
        },
      );
      return false;
    });
  },
};
