/** How messages name a program or server that is spoken with, where its config stands, and what helps when it failed. */
export interface ProgramWords {
  /** ``The provider `mail` `` */
  readonly subject: string;
  /** `[capabilities.providers.mail]` */
  readonly table: string;
  /** A sentence. */
  readonly advice: string;
}

export function providerWords(name: string): ProgramWords {
  return {
    subject: `The provider \`${name}\``,
    table: `[capabilities.providers.${name}]`,
    advice: "Try again; `metier capability providers` says how it is.",
  };
}
