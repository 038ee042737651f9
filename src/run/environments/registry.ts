/** Where the packages of a skill come from: the index of Python packages, and whether a lock file keeps to npm's registry. */
import type { EnvironmentsConfig } from "../../config/config.ts";
import type { Registry } from "../../install/npm/node-registry.ts";
import type { EnvironmentPlan } from "./environment-plan.ts";

const PYPI = "https://pypi.org/simple";
/** PyPI lists packages on one host and keeps them on another. */
const PYPI_FILES = "files.pythonhosted.org";

export function pythonIndex({ pythonIndex: url }: EnvironmentsConfig): Registry {
  if (url === undefined) return { url: PYPI, network: [new URL(PYPI).host, PYPI_FILES] };
  return { url, network: [new URL(url).host] };
}

/** The first package that npm would fetch from somewhere else. For `usual`, npm's own default, it asks the registry. */
export function findForeignPackage(
  { packages }: EnvironmentPlan,
  { url }: Registry,
  usual: string | undefined,
): EnvironmentPlan["packages"][number] | undefined {
  const isKnown = (from: string): boolean =>
    from.startsWith(url) || (usual !== undefined && from.startsWith(usual));
  return packages.find(({ url: from }) => from !== undefined && !isKnown(from));
}
