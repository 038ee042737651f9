/**
 * Structured logs: one JSON object per line. Requests are logged by route pattern, never by path, query, header or
 * body, so that no secret gets in; errors only by class and message.
 */
import type { JsonObject } from "@metier/base/json";

type ServiceLogLevel = "info" | "warn" | "error";

export interface ServiceLog {
  write(level: ServiceLogLevel, message: string, fields?: JsonObject): void;
  /** A fault of the service itself. */
  fault(where: string, fault: unknown): void;
}

export function createServiceLog(print: (line: string) => void, now: () => number): ServiceLog {
  const write: ServiceLog["write"] = (level, message, fields = {}) => {
    print(JSON.stringify({ at: new Date(now()).toISOString(), level, message, ...fields }));
  };
  return {
    write,
    fault(where, fault) {
      const error = fault instanceof Error ? `${fault.name}: ${fault.message}` : typeof fault;
      write("error", "fault", { where, error });
    },
  };
}
