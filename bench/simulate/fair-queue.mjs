/** Runs that wait for a worker, in the engine's order: tenants take turns, and woken runs alternate with new ones. */

/** @template Run */
export class FairQueue {
  /** By tenant, in the order of their turns. @type {Map<number, Run[]>} */
  #queued = new Map();
  /** @type {Run[]} */
  #woken = [];
  #wokenFirst = true;
  length = 0;

  /** @param {number} tenant @param {Run} run */
  add(tenant, run) {
    const own = this.#queued.get(tenant);
    if (own) own.push(run);
    else this.#queued.set(tenant, [run]);
    this.length += 1;
  }

  /** @param {Run} run */
  addWoken(run) {
    this.#woken.push(run);
    this.length += 1;
  }

  /** @returns {Run | undefined} */
  take() {
    if (this.length === 0) return undefined;
    this.length -= 1;
    const isWoken = this.#woken.length > 0 && (this.#wokenFirst || this.#queued.size === 0);
    this.#wokenFirst = !isWoken;
    return isWoken ? this.#woken.shift() : this.#takeQueued();
  }

  #takeQueued() {
    for (const [tenant, own] of this.#queued) {
      const run = own.shift();
      this.#queued.delete(tenant);
      // Goes behind all others: whoever was just served comes last.
      if (own.length > 0) this.#queued.set(tenant, own);
      return run;
    }
    return undefined;
  }
}
