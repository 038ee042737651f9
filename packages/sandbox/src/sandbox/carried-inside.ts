/** The programs that run inside a sandbox, packed, for a bundle that Metier became a part of. The build puts them here. */
export const CARRIED_INSIDE: string | undefined = undefined;
