/** How many of each are measured. */
export const PARKED = 100_000;
export const QUEUED = 20_000;
export const TENANTS = 10_000;
export const SAMPLES = 500;
export const THROUGH = 3_000;
export const KILLS = 8;
export const LEASE_MS = 3_000;
