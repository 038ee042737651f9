/** What `metier new` can begin with. The texts are in `templates.ts`, which is loaded only when one is written. */
export const TEMPLATE_NAMES = ["basic", "script", "reference"] as const;

export type TemplateName = (typeof TEMPLATE_NAMES)[number];
