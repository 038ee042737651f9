/** The servers in the MCP bench, and the requests they get. */
export const METIER = "`metier mcp`";
export const SDK = "the SDK's example";

/** How clients reach them: stdio with one connection, HTTP without one. */
export const TRANSPORTS = ["stdio", "http"];

/**
 * The same requests for both, except that the example's tool only greets, and ours reads a skill and checks that it may
 * be used.
 *
 * @param {string} server
 * @param {string} skill
 * @returns {Readonly<Record<string, { readonly method: string, readonly params: Readonly<Record<string, unknown>>, readonly name?: string }>>}
 */
export function requestsFor(server, skill) {
  const uri = `skill://${skill}/SKILL.md`;
  const tool =
    server === SDK
      ? { name: "greet", arguments: { name: "Ada" } }
      : { name: "use_skill", arguments: { skill } };
  return {
    "`tools/list`": { method: "tools/list", params: {} },
    "`tools/call`": { method: "tools/call", params: tool, name: tool.name },
    "`skills/list`": { method: "skills/list", params: {} },
    "`resources/read`, a `SKILL.md`": { method: "resources/read", params: { uri }, name: uri },
  };
}
