/** PowerShell, which has no grammar here: only the few forms are known in which it fetches, decodes and executes. */
import type { Act } from "./act.ts";
import type { CodePart } from "./code-part.ts";
import { NO_TAINTS, type Taints, taint, uniteTaints } from "./taint.ts";

const FETCH =
  /\b(?:Invoke-WebRequest|iwr|Invoke-RestMethod|irm|curl|wget|Start-BitsTransfer)\b|Net\.WebClient|\.Download(?:String|File|Data)\b/i;
const EXECUTE =
  /\b(?:Invoke-Expression|iex)\b|\|\s*(?:iex|Invoke-Expression)\b|\[scriptblock\]::Create|-EncodedCommand\b|\s-enc\b/i;
const DECODE = /FromBase64String|-EncodedCommand\b|\s-enc\s+[A-Za-z0-9+/=]{20,}/i;
const ADDRESS = /https?:\/\/[^\s"')]+/i;

export function followPowershell(part: CodePart): readonly Act[] {
  const acts: Act[] = [];
  let at = 0;
  for (const line of part.text.split("\n")) {
    const seen = line.replace(/#.*$/, "").trim();
    const [url = ""] = ADDRESS.exec(seen) ?? [];
    const fetches = FETCH.test(seen);
    const taints: Taints = uniteTaints(
      fetches ? taint("remote", url) : NO_TAINTS,
      DECODE.test(seen) ? taint("decoded") : NO_TAINTS,
    );
    const base = { part, at, seen: line.trim().slice(0, 400) };
    if (fetches) acts.push({ ...base, kind: "fetch", taints: NO_TAINTS, target: url });
    if (EXECUTE.test(seen)) acts.push({ ...base, kind: "run", taints, target: "Invoke-Expression" });
    const words = seen.split(/\s+/).filter((word) => word !== "");
    if (words.length > 0) acts.push({ ...base, kind: "command", taints: NO_TAINTS, words });
    at += line.length + 1;
  }
  return acts;
}
