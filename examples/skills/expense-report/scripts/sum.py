"""Reads `what,amount,currency` lines and prints the sum of each currency as JSON."""

# /// script
# requires-python = ">=3.8"
# dependencies = []
# ///
import csv
import json
import sys
from decimal import Decimal

sums = {}
for _what, amount, currency in csv.reader(sys.stdin):
    sums[currency.strip()] = sums.get(currency.strip(), Decimal(0)) + Decimal(amount)
print(json.dumps({currency: str(total) for currency, total in sorted(sums.items())}))
