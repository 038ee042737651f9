/** Where a model is asked: the configured address, the environment's, or the provider's own. */
import type { ModelConfig, ModelProvider } from "../config/config.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { ModelFailure, ModelRequest } from "./model-request.ts";
import { PROVIDER_FACTS } from "./provider-facts.ts";

export type BaseUrlOutcome = { readonly ok: true; readonly url: string } | ModelFailure;

/** Always an explicit address, so that the provider's package does not look for one of its own. */
export function readBaseUrl(
  { baseUrl, provider }: ModelConfig & { readonly provider: ModelProvider },
  where: string,
  { environment }: Pick<ModelRequest, "environment">,
): BaseUrlOutcome {
  const { urlVariable, defaultUrl, path } = PROVIDER_FACTS[provider];
  const fromEnvironment = urlVariable === undefined ? undefined : environment[urlVariable];
  const written = baseUrl || fromEnvironment || defaultUrl;
  const key = baseUrl || !fromEnvironment ? `${where}.base-url` : urlVariable;
  if (written === undefined) {
    return {
      ok: false,
      message: `\`${where}\` has no \`base-url\`, which \`${provider}\` needs.`,
      hint: "Give the server's address, for example `http://127.0.0.1:11434/v1` for Ollama.",
    };
  }
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol) || url.username || url.password) {
    return {
      ok: false,
      message: `\`${key}\` is not an address that begins with \`http://\` or \`https://\`, without user or password.`,
      hint: "Write it like `https://example.com/v1`; keys belong in `api-key-env` or `api-key-command`.",
    };
  }
  if (url.pathname === "/") url.pathname = path;
  return { ok: true, url: url.href.replace(/\/+$/, "") };
}

/** A key that leaves the machine in the clear can be read on its way. */
export function warnOfPlainHttp(url: string, where: string): readonly Diagnostic[] {
  const { protocol, hostname, host } = new URL(url);
  if (protocol !== "http:" || isLoopback(hostname)) return [];
  return [
    {
      code: "model.plain-http",
      severity: "warning",
      message: `The key of \`${where}\` is sent to \`${host}\` over plain HTTP, where others can read it.`,
      hint: "Use `https://`, or leave the key out if the server needs none.",
      path: `${where}.base-url`,
    },
  ];
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127(?:\.\d{1,3}){3}$/.test(hostname)
  );
}
