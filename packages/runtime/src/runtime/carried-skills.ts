/** The bundled skills, packed, for a bundle that Metier became a part of. The build puts them here. */
export const CARRIED_SKILLS: string | undefined = undefined;
