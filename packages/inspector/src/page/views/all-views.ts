/**
 * Every view with its place in the address, loaded when first opened: the catalog opens fast, the rest loads on
 * demand.
 */
import type { ApiMe } from "@metier/service/api";
import type { ComponentType } from "preact";
import { isAdmin, isAdminOfAll, isAdminOfOne, isOperator, isQuotaReader } from "../operate/roles.ts";

export interface ViewProps {
  /** The path after the view's own name. */
  readonly rest: readonly string[];
}

export interface View {
  /** The first part of the path. */
  readonly id: string;
  readonly title: string;
  /** The second key after `g`. */
  readonly key: string;
  /** Not in the navigation; reached by links. */
  readonly isInner?: true;
  /** For operators of a service: whether this user gets a link to it. Absent: everyone does. */
  isFor?(me: ApiMe): boolean;
  load(): Promise<ComponentType<ViewProps>>;
}

export const VIEWS: readonly View[] = [
  { id: "skills", title: "Skills", key: "s", load: async () => (await import("./catalog.tsx")).CatalogView },
  {
    id: "skill",
    title: "Skill",
    key: "",
    isInner: true,
    load: async () => (await import("./skill.tsx")).SkillView,
  },
  {
    id: "playground",
    title: "Playground",
    key: "p",
    load: async () => (await import("./playground.tsx")).Playground,
  },
  { id: "runs", title: "Runs", key: "r", load: async () => (await import("./runs.tsx")).RunsView },
  {
    id: "run",
    title: "Run",
    key: "",
    isInner: true,
    load: async () => (await import("./run.tsx")).RunDetails,
  },
  {
    id: "compare",
    title: "Compare runs",
    key: "",
    isInner: true,
    load: async () => (await import("./compare.tsx")).Compare,
  },
  {
    id: "statistics",
    title: "Statistics",
    key: "t",
    load: async () => (await import("./statistics.tsx")).Statistics,
  },
  {
    id: "approvals",
    title: "Approvals",
    key: "a",
    load: async () => (await import("./approvals.tsx")).ApprovalsView,
  },
  {
    id: "schedules",
    title: "Schedules",
    key: "c",
    load: async () => (await import("./schedules.tsx")).Schedules,
  },
  { id: "agents", title: "Agents", key: "n", load: async () => (await import("./agents.tsx")).Agents },
  { id: "evals", title: "Evals", key: "e", load: async () => (await import("./evals.tsx")).Evals },
  {
    id: "routing",
    title: "Routing",
    key: "o",
    load: async () => (await import("./routing.tsx")).RoutingView,
  },
  {
    id: "tenants",
    title: "Tenants and keys",
    key: "k",
    isFor: isAdminOfAll,
    load: async () => (await import("./tenants.tsx")).Tenants,
  },
  {
    id: "keys",
    title: "Keys",
    key: "k",
    isFor: isAdminOfOne,
    load: async () => (await import("./keys.tsx")).Keys,
  },
  {
    id: "workers",
    title: "Workers and queue",
    key: "w",
    isFor: isOperator,
    load: async () => (await import("./workers.tsx")).Workers,
  },
  {
    id: "quotas",
    title: "Quotas and usage",
    key: "q",
    isFor: isQuotaReader,
    load: async () => (await import("./quotas.tsx")).Quotas,
  },
  {
    id: "audit",
    title: "Audit",
    key: "l",
    isFor: isAdmin,
    load: async () => (await import("./audit.tsx")).Audit,
  },
  {
    id: "design",
    title: "Design",
    key: "",
    isInner: true,
    load: async () => (await import("./design.tsx")).Design,
  },
];

/** The views that the signed-in user gets links to. */
export function openViews(me: ApiMe | undefined): readonly View[] {
  return VIEWS.filter(({ isInner, isFor }) => !isInner && (!isFor || (me !== undefined && isFor(me))));
}
