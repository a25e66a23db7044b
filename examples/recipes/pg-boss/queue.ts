import { PgBoss } from "pg-boss";

/** Connects, and creates the queues if they do not exist. */
export async function startBoss() {
  const boss = new PgBoss(process.env.DATABASE_URL ?? "");
  boss.on("error", (error: Error) => console.error("pg-boss", error.message));
  await boss.start();
  await boss.createQueue("webhooks-dead");
  await boss.createQueue("webhooks", {
    retryLimit: 10,
    retryDelay: 1,
    retryBackoff: true,
    deadLetter: "webhooks-dead",
    // After this time at the latest, the deliveries that a killed worker held are handled again.
    heartbeatSeconds: 30,
  });
  return boss;
}
