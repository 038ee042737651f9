/** Where packages come from: an address, and the domains that fetching from it may reach. No credential is ever passed on. */
import type { EnvironmentsConfig } from "../../config/config.ts";
import type { EnvironmentPlan } from "./environment-plan.ts";

export interface Registry {
  readonly url: string;
  /** Domains, as `src/egress/domain-grants.ts` reads them. */
  readonly network: readonly string[];
}

const PYPI = "https://pypi.org/simple";
/** PyPI lists packages on one host and keeps them on another. */
const PYPI_FILES = "files.pythonhosted.org";
/** What lock files name, whichever registry npm is set to: npm puts its own in that place. */
const NPM_DEFAULT = "https://registry.npmjs.org/";

export function pythonIndex({ pythonIndex: url }: EnvironmentsConfig): Registry {
  if (url === undefined) return { url: PYPI, network: [new URL(PYPI).host, PYPI_FILES] };
  return { url, network: [new URL(url).host] };
}

/** `undefined`: it is no address, or one with a user name or password. */
export function nodeRegistry(url: string): Registry | undefined {
  const read = URL.parse(url.trim());
  if (read === null || !/^https?:$/.test(read.protocol)) return undefined;
  if (read.username !== "" || read.password !== "") return undefined;
  if (!read.pathname.endsWith("/")) read.pathname += "/";
  return { url: read.href, network: [read.host] };
}

/** The first package that npm would fetch from somewhere else. */
export function findForeignPackage(
  { packages }: EnvironmentPlan,
  { url }: Registry,
): EnvironmentPlan["packages"][number] | undefined {
  return packages.find(
    ({ url: from }) => from !== undefined && !from.startsWith(url) && !from.startsWith(NPM_DEFAULT),
  );
}
