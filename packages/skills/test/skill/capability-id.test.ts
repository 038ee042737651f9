import { expect } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { isCapabilityId } from "../../src/skill/field-grammars.ts";

verifies([50, "case 25"], "a capability id has a namespace and a name in lower case", () => {
  for (const id of ["gog.email", "a.b", "my_ns.cal-2"]) expect(isCapabilityId(id), id).toBe(true);
  for (const id of ["email", "gog.", ".email", "Gog.email", "a.b.c", "a b.c", "-a.b", ""]) {
    expect(isCapabilityId(id), id).toBe(false);
  }
});
