import { delivered, receiverOf } from "./support";

const warnings: string[] = [];
beforeEach(() => {
  warnings.length = 0;
  jest.spyOn(process, "emitWarning").mockImplementation((warning) => void warnings.push(String(warning)));
});
afterEach(() => jest.restoreAllMocks());

const jobId = "job_1";
const succeeded = { type: "job.succeeded", data: { jobId } };
test.each<[unknown, string]>([
  [[succeeded], 'is a list, whose first item has `type` "job.succeeded"'],
  [{ events: [succeeded] }, 'has a list `events`, whose first item has `type` "job.succeeded"'],
  ["payload=%7B%7D", "is not JSON"],
  [
    JSON.stringify(JSON.stringify(JSON.stringify(succeeded))),
    'is a string of JSON, which is a string of JSON, which has `type` "job.succeeded"',
  ],
])("a delivery of %j, another form of events, warns of it", async (body, seen) => {
  const { receiver } = receiverOf();
  expect(await receiver.handle(delivered({ body }))).toMatchObject({ status: 200 });
  expect(warnings).toEqual([expect.stringContaining(`it ${seen}. The receiver expects`)]);
});

test.each<[unknown, string]>([
  [{ type: "JOB.SUCCEEDED", data: { jobId } }, '`type` "JOB.SUCCEEDED"'],
  [{ type: "job_failed", data: { jobId } }, '`type` "job_failed"'],
  [{ type: "job.success", data: { jobId } }, '`type` "job.success"'],
  [{ event: "job.succeeded", data: { jobId } }, '`event` "job.succeeded"'],
  [{ event_type: "job.running", jobId }, '`event_type` "job.running"'],
  [{ event: { type: "job.running" } }, '`event.type` "job.running"'],
  [{ data: { jobId, event: "job.running" } }, '`data.event` "job.running"'],
  [{ data: { jobId, status: "succeeded" } }, '`data.status` "succeeded"'],
  [{ type: "job.updated", data: { jobId, status: "failed" } }, '`data.status` "failed"'],
  [{ type: "JOB.SUCCEEDED", events: [] }, '`type` "JOB.SUCCEEDED"'],
  [{ payload: { type: "job.succeeded" } }, '`payload.type` "job.succeeded"'],
  [{ jobId, state: "succeeded" }, '`state` "succeeded"'],
  [{ job: { id: jobId, status: "failed" } }, '`job.status` "failed"'],
  [{ type: "com.acme.job.succeeded", data: { jobId } }, '`type` "com.acme.job.succeeded"'],
  [{ type: "v1.job.failed", data: { jobId } }, '`type` "v1.job.failed"'],
  [{ type: "", jobId, status: "failed" }, '`type` ""'],
  [{ type: "webhook", event: "job.failed" }, '`event` "job.failed"'],
  [{ jobId, status: "SUCCEEDED" }, '`status` "SUCCEEDED"'],
])("a delivery of %j warns of what was seen and what is expected", async (body, seen) => {
  const { outcomeOf } = receiverOf();
  expect(await outcomeOf(delivered({ body }))).toBe("unhandled");
  expect(warnings).toEqual([expect.stringContaining(`it has ${seen}`)]);
  expect(warnings[0]).toMatch(
    /"job\.running", "job\.succeeded", "job\.failed".*"running", "succeeded", "failed"/,
  );
});

test("a receiver warns of the shape of events once", async () => {
  const { outcomeOf } = receiverOf();
  for (const type of ["JOB.SUCCEEDED", "JOB.FAILED", "JOB.SUCCEEDED"])
    await outcomeOf(delivered({ body: { type, data: { jobId } } }));
  expect(warnings).toHaveLength(1);
});

test.each<unknown>([
  { type: "job.succeeded", data: { jobId, status: "SUCCEEDED", event: "job.failed" } },
  { jobId, status: "succeeded" },
  { type: "webhook.validation" },
  { type: "invoice.paid", data: { status: "succeeded", name: "Job failed" } },
  { type: "crm.user.created", data: { status: "failed", name: "The job failed" } },
  { event: "user.created", text: "The job failed" },
  { type: "", data: { jobId } },
  { type: "webhook", event: "user.created" },
  { type: "print.jobber.failed" },
  { type: "job.moved", data: { jobId } },
  { jobId, status: "queued" },
  { event: "user.created" },
  { type: ["job.succeeded"] },
  { type: "job.succeeded".padEnd(1000, "!") },
  [],
  null,
  '"job.succeeded"',
])("a delivery of %j does not warn", async (body) => {
  const { receiver } = receiverOf();
  expect(await receiver.handle(delivered({ body }))).toMatchObject({ status: 200 });
  expect(warnings).toEqual([]);
});

test("where process emits no warnings, as in Cloudflare Workers with an older compatibility date, the console shows them", async () => {
  process.emitWarning = undefined as never; // until the mocks are restored
  const warn = jest.spyOn(console, "warn").mockImplementation(() => {});
  const { receiver } = receiverOf();
  expect(await receiver.handle(delivered({ body: { type: "JOB.SUCCEEDED" } }))).toMatchObject({
    status: 200,
  });
  expect(warn).toHaveBeenCalledWith(expect.stringContaining("JOB.SUCCEEDED"));
});
