/** The profiles: over the same rules, they decide severity and what may be loaded. */
export const PROFILES = ["strict", "standard", "lenient"] as const;

export type Profile = (typeof PROFILES)[number];
