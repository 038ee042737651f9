/**
 * One broker for everybody, over the brokers that configs make: the first call makes one, and a config that wires
 * providers otherwise makes the next. The one before ends with the last call that is under way in it.
 */
import type { CapabilityBroker } from "../capabilities/capability-broker.ts";

export interface BrokerSource {
  /** Another text: another broker. */
  wiring(): string;
  compose(): Promise<CapabilityBroker>;
}

interface HeldBroker {
  readonly wiring: string;
  readonly broker: Promise<CapabilityBroker>;
  calls: number;
}

export function followBroker({ wiring, compose }: BrokerSource): CapabilityBroker {
  let current: HeldBroker | undefined;
  const open = new Set<HeldBroker>();

  const end = async (held: HeldBroker): Promise<void> => {
    if (!open.delete(held)) return;
    const broker = await held.broker.catch(() => undefined); // Whoever asked first has heard of the fault.
    await broker?.close();
  };
  const retire = (held: HeldBroker): void => {
    end(held).catch(() => undefined); // It has answered everybody, and nobody waits for its end.
  };
  const holdCurrent = (): HeldBroker => {
    const wanted = wiring();
    if (current?.wiring === wanted) return current;
    const before = current;
    const held: HeldBroker = { wiring: wanted, broker: compose(), calls: 0 };
    current = held;
    open.add(held);
    held.broker.catch(() => {
      if (current === held) current = undefined; // The next call tries again.
      open.delete(held);
    });
    if (before?.calls === 0) retire(before);
    return held;
  };
  const use = async <Value>(work: (broker: CapabilityBroker) => Promise<Value>): Promise<Value> => {
    const held = holdCurrent();
    held.calls += 1;
    try {
      return await work(await held.broker);
    } finally {
      held.calls -= 1;
      if (held !== current && held.calls === 0) retire(held);
    }
  };
  return {
    list: (caller, options) => use((broker) => broker.list(caller, options)),
    preflight: (ids, caller) => use((broker) => broker.preflight(ids, caller)),
    invoke: (caller, request, options) => use((broker) => broker.invoke(caller, request, options)),
    auth: {
      begin: (caller, request) => use(({ auth }) => auth.begin(caller, request)),
      list: (caller, filter) => use(({ auth }) => auth.list(caller, filter)),
      complete: (caller, request) => use(({ auth }) => auth.complete(caller, request)),
      completeCallback: (caller, url) => use(({ auth }) => auth.completeCallback(caller, url)),
      poll: (caller, flowId) => use(({ auth }) => auth.poll(caller, flowId)),
      unlink: (caller, request) => use(({ auth }) => auth.unlink(caller, request)),
    },
    providers: () => use((broker) => broker.providers()),
    async close() {
      current = undefined;
      await Promise.all([...open].map(end));
    },
  };
}
