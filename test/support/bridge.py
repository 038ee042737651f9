"""A bridge for tests, in Python, as one is usually written: one request, one answer. It verifies who asks by the token."""

import base64
import hashlib
import hmac
import json
import os
import sys
import time


def decode(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def verify(token):
    secret = decode(os.environ["ASH_CONTEXT_TOKEN_SECRET"])
    header, payload, signature = token.split(".")
    expected = hmac.new(secret, f"{header}.{payload}".encode(), hashlib.sha256).digest()
    if not hmac.compare_digest(expected, decode(signature)):
        raise ValueError("signature")
    if json.loads(decode(header)) != {"alg": "HS256", "typ": "ASH_CONTEXT", "ver": 1}:
        raise ValueError("header")
    claims = json.loads(decode(payload))
    now = time.time()
    if not claims["iat"] - 30 <= now <= claims["exp"] + 30:
        raise ValueError("claims")
    return claims


request = json.load(sys.stdin)
response = {"version": request["version"], "id": request["id"]}
try:
    claims = verify(request["params"]["context_token"])
    response["result"] = {"output": {"user": claims["sub"], "chat": claims.get("chat_id")}}
except (KeyError, ValueError) as fault:
    response["error"] = {"code": "capability_invalid_input", "message": f"context token: {fault}"}
json.dump(response, sys.stdout)
