/** Names that hide a file wherever it lies in a run's world, except in the work folder, which the run fills itself. */

/** `.env`, `.env.local`, `.envrc` …: whatever begins so, in any letter case. */
export function isSecretName(name: string): boolean {
  return name.slice(0, 4).toLowerCase() === ".env";
}
