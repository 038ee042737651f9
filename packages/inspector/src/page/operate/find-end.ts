/** Finds the end of a numbered list that can only be read forward from a number. Pure. */

/**
 * A number near the last line: 0 for a log of up to `step` lines, else at most `step` before its end. Asks at most
 * twice for each doubling of its length.
 */
export async function findEnd(hasAfter: (seq: number) => Promise<boolean>, step: number): Promise<number> {
  if (!(await hasAfter(step))) return 0;
  let [behind, end] = [step, 2 * step];
  while (await hasAfter(end)) [behind, end] = [end, 2 * end];
  while (end - behind > step) {
    const middle = Math.floor((behind + end) / 2);
    if (await hasAfter(middle)) behind = middle;
    else end = middle;
  }
  return behind;
}
