// Signs and verifies with a library of npm, which the argument names: `standardwebhooks` or `svix`. A request is a line, as peers.js describes.
import { createInterface } from "node:readline";

const { Webhook } = await import(process.argv[2]);
for await (const line of createInterface({ input: process.stdin })) {
  const [verb, secret, id, timestamp, encoded, signature = ""] = line.split(" ");
  const webhook = new Webhook(secret);
  const body = Buffer.from(encoded, "base64").toString();
  if (verb === "sign") {
    console.log(webhook.sign(id, new Date(Number(timestamp) * 1000), body));
    continue;
  }
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signature.replaceAll("|", " "),
  };
  try {
    webhook.verify(body, headers);
    console.log("genuine");
  } catch {
    console.log("refused");
  }
}
