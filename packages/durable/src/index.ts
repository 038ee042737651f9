/** What other packages may use of `@metier/durable`: the ports, and what is the same for every store. */
export * from "./journal-store.ts";
export * from "./record-store.ts";
export * from "./run-engine.ts";
export * from "./snapshot-store.ts";
