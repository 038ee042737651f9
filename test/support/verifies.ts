/** `verifies(41, "title", fn)`: a test that proves requirement 41 (or behaviour cases, by `case 7`). */
import { test } from "vitest";

export type Proof = number | `case ${number}`;

/** Registers a test whose title carries the requirements it proves; `test/architecture/requirements.test.ts` reads them. */
export function verifies(
  proofs: Proof | readonly Proof[],
  title: string,
  run: () => void | Promise<void>,
): void {
  const list = (Array.isArray(proofs) ? proofs : [proofs]) as readonly Proof[];
  test(
    `${title} [${list.map((proof) => (typeof proof === "number" ? `req ${proof}` : proof)).join(", ")}]`,
    run,
  );
}
