/** The grammar of capability ids: `namespace.name`, as in `gog.email`. */
const CAPABILITY_ID = /^[a-z0-9][a-z0-9_-]*\.[a-z0-9][a-z0-9_-]*$/;

export function isCapabilityId(text: string): boolean {
  return CAPABILITY_ID.test(text);
}
