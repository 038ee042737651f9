/** How large a skill may be that is published: what every host of skills has to take, by the Skills extension of MCP. */
import { SOURCE_LIMITS, type SourceLimits } from "../install/source-limits.ts";

const MOST_BYTES: number = 16 * 1024 * 1024;

export const PUBLISH_LIMITS: SourceLimits = {
  ...SOURCE_LIMITS,
  files: 512,
  bytes: MOST_BYTES,
  fileBytes: MOST_BYTES,
};
