/** The bundled skills, packed, for bundles that include Metier. The build writes them here. */
export const CARRIED_SKILLS: string | undefined = undefined;
