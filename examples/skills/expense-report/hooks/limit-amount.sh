#!/bin/sh
# Stops conversions that a person should look at. The call comes as JSON on standard input.
exec node -e '
  const { input } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
  if (input.amount > 10_000) {
    console.log(JSON.stringify({ decision: "block", reason: "a person converts amounts above 10,000" }));
  }
'
