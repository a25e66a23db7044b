# Signs and verifies with a library of PyPI, which the argument names: `standardwebhooks` or `svix`. A request is a line, as peers.js describes.
import base64
import datetime
import importlib
import sys

Webhook = importlib.import_module(sys.argv[1]).Webhook

for line in sys.stdin:
    verb, secret, id, timestamp, encoded, *rest = line.strip().split(" ")
    webhook = Webhook(secret)
    body = base64.b64decode(encoded).decode()
    if verb == "sign":
        time = datetime.datetime.fromtimestamp(int(timestamp), tz=datetime.timezone.utc)
        print(webhook.sign(id, time, body), flush=True)
        continue
    signature = rest[0].replace("|", " ")
    headers = {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature}
    try:
        webhook.verify(body, headers)
        print("genuine", flush=True)
    except Exception:
        print("refused", flush=True)
