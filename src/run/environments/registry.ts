/** Where the packages of a skill come from: the index of Python packages, and whether a lock file keeps to npm's registry. */
import type { EnvironmentsConfig } from "../../config/config.ts";
import { NPM_DEFAULT, type Registry } from "../../install/npm/node-registry.ts";
import type { EnvironmentPlan } from "./environment-plan.ts";

const PYPI = "https://pypi.org/simple";
/** PyPI lists packages on one host and keeps them on another. */
const PYPI_FILES = "files.pythonhosted.org";

export function pythonIndex({ pythonIndex: url }: EnvironmentsConfig): Registry {
  if (url === undefined) return { url: PYPI, network: [new URL(PYPI).host, PYPI_FILES] };
  return { url, network: [new URL(url).host] };
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
