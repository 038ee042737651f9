/** The interpreted shell's program, packed for bundles that include Metier. The build fills this in. */
export const CARRIED_SHELL: string | undefined = undefined;
