/** An empty program: what starting Node costs. */
export {};
