/**
 * For whom the store is asked: one tenant, or all of them. A store that many tenants share shows and changes nothing unless
 * somebody has said so here, so that a query that forgot its tenant finds nothing instead of everything.
 */
import { AsyncLocalStorage } from "node:async_hooks";

/** What the store is told for work of the service itself; no tenant is called so. */
export const ALL_TENANTS = "*";

const scope = new AsyncLocalStorage<string>();

/** All that `work` reads and writes is this tenant's. */
export function forTenant<Value>(tenant: string, work: () => Value): Value {
  if (tenant === ALL_TENANTS) throw new Error(`\`${tenant}\` is not the name of a tenant.`);
  return scope.run(tenant, work);
}

/** For what belongs to no tenant: who a key belongs to, due schedules, old runs. Never for a request's own work. */
export function forAllTenants<Value>(work: () => Value): Value {
  return scope.run(ALL_TENANTS, work);
}

/** `undefined`: nobody has said, and nothing is to be seen. */
export function currentTenant(): string | undefined {
  return scope.getStore();
}

/** The one tenant that is worked for. `undefined`: all, or nobody has said. */
export function ownTenant(): string | undefined {
  const tenant = scope.getStore();
  return tenant === ALL_TENANTS ? undefined : tenant;
}

/** Of a store that is bound to a tenant, the one that all tenants share. */
const shared = new WeakMap<object, object>();

/**
 * The same store, always asked for this tenant. What a socket of a run calls comes without a scope: whoever opened the socket
 * is not remembered there.
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

/** The store itself, for what is asked once for all tenants. */
export function unbound<Store extends object>(store: Store): Store {
  return (shared.get(store) as Store | undefined) ?? store;
}
