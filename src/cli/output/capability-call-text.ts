/** A capability that a run asked the host for, on one line: the same while it runs and afterwards. */
import type { CapabilityCallView } from "../../events/run-view.ts";
import { type Style, safeLine } from "./style.ts";

/** `desk.mail send as acc_1 (changes something): ok` */
export function capabilityCallText(call: CapabilityCallView, style: Style): string {
  const { capability, operation, account, mutating, outcome } = call;
  const as = account === undefined ? "" : ` as ${safeLine(account)}`;
  const change = mutating ? " (changes something)" : "";
  const what = safeLine([capability, operation].join(" ").trim());
  const line = `${what}${as}${change}: ${safeLine(outcome)}`;
  return outcome === "ok" || outcome === "repeat" ? style.dim(line) : style.yellow(line);
}
