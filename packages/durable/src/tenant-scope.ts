/**
 * The tenant that the store is queried for: one, or all. A store that many tenants share shows and changes nothing
 * without a scope from here, so a query that forgot its tenant finds nothing instead of everything.
 */
import { AsyncLocalStorage } from "node:async_hooks";

/** The scope for the service's own work; no tenant has this name. */
export const ALL_TENANTS = "*";

const scope = new AsyncLocalStorage<string>();

/** Everything that `work` reads and writes belongs to this tenant. */
export function forTenant<Value>(tenant: string, work: () => Value): Value {
  if (tenant === ALL_TENANTS) throw new Error(`\`${tenant}\` is not the name of a tenant.`);
  return scope.run(tenant, work);
}

/** For what belongs to no tenant: who owns a key, due schedules, old runs. Never for a request's own work. */
export function forAllTenants<Value>(work: () => Value): Value {
  return scope.run(ALL_TENANTS, work);
}

/** `undefined`: no scope was set, and nothing can be seen. */
export function currentTenant(): string | undefined {
  return scope.getStore();
}

/** The one tenant in scope. `undefined`: all, or no scope was set. */
export function ownTenant(): string | undefined {
  const tenant = scope.getStore();
  return tenant === ALL_TENANTS ? undefined : tenant;
}

/** For a store bound to a tenant, the one that all tenants share. */
const shared = new WeakMap<object, object>();

/**
 * The same store, always queried for this tenant. Calls from a run's socket come without a scope: whoever opened the
 * socket isn't remembered there.
 */
export function boundToTenant<Store extends object>(tenant: string, store: Store): Store {
  const bound = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: readonly unknown[]) => forTenant(tenant, () => member.apply(target, args));
    },
  });
  shared.set(bound, store);
  return bound;
}

/** The store itself, for queries across all tenants. */
export function unbound<Store extends object>(store: Store): Store {
  return (shared.get(store) as Store | undefined) ?? store;
}
