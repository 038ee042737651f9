/** What a profile says about a client: its package, and how to configure its provider, its server and a prompt. */

/**
 * Where one client is tried, and whom it talks to.
 *
 * @typedef {object} Setting
 * @property {string} url of the provider, without a path
 * @property {string | undefined} mcp what `metier mcp --print-config` printed; `undefined`: no server is configured
 * @property {string} home
 * @property {string} prompt
 */

/**
 * @typedef {object} Start
 * @property {Readonly<Record<string, string>>} files to write first, below the home
 * @property {Readonly<Record<string, string>>} env
 * @property {readonly string[]} args
 */

/**
 * @typedef {object} Profile
 * @property {string} id Metier's name for the client, as in `metier install --agent`
 * @property {string} package on npm
 * @property {string} version exact
 * @property {string} program that the package contains
 * @property {boolean} [hasInstallScript] needed to get the program
 * @property {{ readonly config: string, readonly tool: string } | undefined} mcp the client's name at `metier mcp --print-config`,
 *   and what it calls `use_skill`; nothing: it does not speak MCP
 * @property {(skill: { name: string, file: string }) => import("./provider/directives.mjs").Call} open the call by which its
 *   model gets the instructions of a skill that it was told of
 * @property {(setting: Setting) => Start} start
 */

/** A key for a provider that doesn't check it. */
export const DUMMY_KEY = "loopback-0123456789";

/** A settings file, combined with what Metier printed for it. @param {object} settings @param {string | undefined} printed */
export function jsonWith(settings, printed) {
  return JSON.stringify({ ...settings, ...JSON.parse(printed ?? "{}") }, null, 2);
}
