/**
 * The skills of each tenant for clients that load them into a model of their own. Their texts are given as they are: no
 * command in them is run, since nobody's quota counts it.
 */
import { isInside } from "@metier/base/places";
import { dropOldest } from "@metier/base/turns";
import { createPathHider } from "@metier/run/events";
import type { Metier } from "@metier/runtime";
import type { Catalog } from "@metier/skills";
import type { ServedSkills } from "../insight/insight.ts";
import { DEFAULT_TENANT } from "../keys/identity.ts";
import type { ServiceContext } from "../service-context.ts";
import type { SkillAtHand, SkillShelf } from "../shelf/skill-shelf.ts";
import { listUploads, openUploaded, stampUploads } from "./skills-at-hand.ts";

export interface ServedSkillsParts {
  /** The server's own. */
  own(): Promise<Metier>;
  /** One over these folders, and for `withHome` over the server's own skills, too, that runs no command in a text. */
  openServed(paths: readonly string[], trustedPaths: readonly string[], withHome: boolean): Promise<Metier>;
  readonly shelf: SkillShelf;
  readonly hiddenFolders: ServiceContext["hiddenFolders"];
}

/** Tenants that were asked for last. */
const MOST_TENANTS = 50;

interface Opened {
  /** Of the server's own skills. */
  catalog: Catalog;
  readonly uploads: string;
  readonly served: Promise<ServedSkills>;
}

export function openServedSkills(parts: ServedSkillsParts): (tenant: string) => Promise<ServedSkills> {
  const opened = new Map<string, Opened>();
  return async (tenant) => {
    const { catalog } = await parts.own();
    const uploaded = await listUploads(parts.shelf, tenant);
    const uploads = stampUploads(uploaded);
    const known = opened.get(tenant);
    if (known?.uploads === uploads) {
      const served = await known.served;
      if (known.catalog !== catalog) {
        known.catalog = catalog;
        if (tenant === DEFAULT_TENANT) await served.metier.reload();
      }
      return served;
    }
    const served = openUploaded(parts.shelf, tenant, uploaded).then((skills) => serve(parts, tenant, skills));
    opened.delete(tenant);
    opened.set(tenant, { catalog, uploads, served });
    served.catch(() => opened.delete(tenant)); // Whoever asked hears of it.
    dropOldest(opened, MOST_TENANTS);
    return served;
  };
}

async function serve(
  { openServed, hiddenFolders }: ServedSkillsParts,
  tenant: string,
  skills: readonly SkillAtHand[],
): Promise<ServedSkills> {
  const trusted = skills.filter(({ isTrusted }) => isTrusted).map(({ path }) => path);
  const paths = skills.map(({ path }) => path);
  const metier = await openServed(paths, trusted, tenant === DEFAULT_TENANT);
  const hider = createPathHider();
  for (const [folder, shown] of hiddenFolders) hider.hide(folder, shown);
  for (const { path, name } of skills) hider.hide(path, `skill:${name}`);
  const isHidden = (path: string): boolean => hiddenFolders.some(([folder]) => isInside(path, folder));
  for (const { path, scope } of metier.roots) if (!isHidden(path)) hider.hide(path, `${scope} skills`);
  return { metier, hide: (text) => hider.clean(text) };
}
