import { join } from "node:path";
import { Argument, Option } from "commander";
import { newJobId } from "../../emulator/runJob";
import { PROGRAM } from "../../shared/commandLine";
import { foreign } from "../../shared/escape";
import { parseJson } from "../../shared/json";
import { postDelivery, textOf } from "../../shared/post";
import { isSuccess } from "../../shared/status";
import { isJobEvent, readEvent } from "../../signature/event";
import { sign } from "../../signature/sign";
import { deliveryHeaders, readCapture } from "../capture";
import { DOCS } from "../docs";
import { CliError } from "../errors";
import { httpUrl, jsonOption, stackOption } from "../options";
import type { Subcommand } from "../run";
import { describeSecrets, readSecrets } from "../secrets";

interface Flags {
  readonly to: string;
  readonly data?: string;
  readonly capture?: string;
}

const REFUSED =
  "The receiver has another secret or a wrong clock, or something changes the body before it is verified. " +
  `The receiver's log has the reason, and ${join(DOCS, "signature-mismatch.md")} says what to do about it.`;

export const send: Subcommand<Flags> = {
  summary: "send a signed delivery to a receiver",
  description:
    "Sends one delivery, signed as the service signs it, and shows the response. A captured delivery gets a new id and a new signature, so " +
    "that the receiver handles it. The exit status is 0 after a 2xx.",
  arguments: [new Argument("[event]", "job.running, job.succeeded, job.failed, or another")],
  options: [
    new Option("--to <url>", "the receiver").argParser(httpUrl).makeOptionMandatory(),
    new Option("--data <json>", "the event's data (default: a job)").conflicts("capture"),
    new Option("--capture <file>", "send a captured delivery, such as one of listen --save"),
    stackOption(),
    jsonOption(),
  ],
  examples: [
    "send job.succeeded --to http://127.0.0.1:8080/jobs",
    `send job.failed --to http://127.0.0.1:8080/jobs --data '{"jobId":"job_1"}'`,
    "send --capture captures/1795253400000-msg_2Lh9.json --to http://127.0.0.1:8080/jobs",
  ],
  async run(context, flags, [event]) {
    const { output } = context;
    const { to } = flags;
    if ((flags.capture === undefined) === (event === undefined))
      throw new CliError(
        "WRONG_USE",
        "name an event, such as job.succeeded, or a captured delivery with --capture",
      );
    const signing = await readSecrets(context);
    const capture = flags.capture === undefined ? undefined : await readCapture(flags.capture);
    const body = capture?.body ?? bodyOf(event, flags.data);
    const given = capture ? deliveryHeaders(capture.headers) : { "content-type": "application/json" };
    const signed = sign({ body, secret: signing.secrets });
    const headers = { ...given, "user-agent": PROGRAM, ...signed };
    const name = readEvent(body).event ?? "unknown event";
    const id = signed["webhook-id"];
    const posting = postDelivery({ url: to, headers, body });
    const received = await output.during(() => "Waiting for the receiver…", posting);
    const { status, failure, durationMs } = received;
    const response = textOf(received);
    output.data({ event: name, id, status, failure, durationMs, response }, () => {
      const broken = failure === null ? "" : `, but the response broke off (${failure})`;
      const result =
        status === null ? `no response (${failure})` : `${status} after ${durationMs} ms${broken}`;
      output.line(`${foreign(name)} ${foreign(id)} to ${to}: ${result}`);
      output.response(response);
    });
    if (status === 401) output.note(`It was signed with ${describeSecrets(signing)}. ${REFUSED}`);
    return isSuccess(status) && failure === null;
  },
};

/** Returns JSON whose data is as it was given, because parsing would change large numbers. @throws CliError `WRONG_USE` */
function bodyOf(event = "", given: string | undefined): Buffer {
  const jobId = newJobId();
  const job = isJobEvent(event) ? { jobId, status: event.slice("job.".length) } : {};
  const data = given ?? JSON.stringify(job);
  if (parseJson(data) === undefined)
    throw new CliError("WRONG_USE", `--data must be JSON, such as '{"jobId":"job_1","status":"succeeded"}'`);
  return Buffer.from(`{"type":${JSON.stringify(event)},"data":${data}}`);
}
