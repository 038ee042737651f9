/** The grammar of `toolsets`: `path/module:ExportName`, a module in the skill's folder and what it exports. */
export interface ToolsetEntry {
  /** Below the skill's folder; its ending may be left out. */
  readonly module: string;
  /** `default` for the default export. */
  readonly exportName: string;
}

const ENTRY = /^(?<module>[^\s:]+):(?<exportName>[A-Za-z_$][\w$]*)$/;

/** `undefined` when it is malformed, or leads out of the folder. */
export function parseToolsetEntry(text: string): ToolsetEntry | undefined {
  const { module = "", exportName = "" } = ENTRY.exec(text)?.groups ?? {};
  const isInside = !/^[/\\~]/.test(module) && !module.split(/[/\\]/).includes("..");
  return module !== "" && isInside ? { module, exportName } : undefined;
}
