/** The frame of SARIF 2.1.0, and addresses in it: relative to the working directory where that is possible. */
import { relative, sep } from "node:path";
import { pathToFileURL } from "node:url";

export interface SarifParts {
  readonly version: string;
  readonly cwd: string;
  readonly rules: readonly object[];
  readonly results: readonly object[];
}

export function sarifDocument({ version, cwd, rules, results }: SarifParts): object {
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "metier", version, rules } },
        originalUriBaseIds: { ROOT: { uri: `${pathToFileURL(cwd).href}/` } },
        results,
      },
    ],
  };
}

export function sarifLocation(path: string, cwd: string): object {
  const inside = relative(cwd, path);
  if (inside === "" || inside.startsWith("..")) return { uri: pathToFileURL(path).href };
  return { uri: inside.split(sep).map(encodeURIComponent).join("/"), uriBaseId: "ROOT" };
}
