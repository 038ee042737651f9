/** Preloaded into a measured program: on exit it leaves the most memory the process held, in KB. */
const { writeFileSync } = require("node:fs");

process.on("exit", () => {
  if (process.env.BENCH_MEMORY_FILE) {
    writeFileSync(process.env.BENCH_MEMORY_FILE, String(process.resourceUsage().maxRSS));
  }
});
