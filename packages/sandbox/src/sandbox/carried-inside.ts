/** The programs that run inside a sandbox, packed for bundles that include Metier. The build fills this in. */
export const CARRIED_INSIDE: string | undefined = undefined;
