/** The program of the interpreted shell, packed, for a bundle that Metier became a part of. The build puts it here. */
export const CARRIED_SHELL: string | undefined = undefined;
