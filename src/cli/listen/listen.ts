import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { WebhookError } from "../../client";
import { nodeHandler } from "../../receiver/adapters/node";
import { openWayTo } from "../../shared/post";
import { describeUrl } from "../../shared/url";
import { countOf, quoted } from "../../shared/words";
import { DEFAULT_TOLERANCE_SECONDS } from "../../signature/tolerance";
import { Output } from "../output";
import { Pulumi } from "../pulumi";
import { EXIT, endOnInterrupt, failIfUnwritable } from "../run";
import { readSecrets, type SecretFlags } from "../secrets/secrets";
import { openService, showAnswer } from "../service";
import { stopSignal } from "../stopSignal";
import { TemporaryEndpoint } from "../temporaryEndpoint";
import { CaptureFolder } from "./captureFolder";
import { localReceiver } from "./localReceiver";
import { LISTEN_PAGE_PATH, ListenPage } from "./page";
import { Reporter } from "./reporter";
import { CLOSING_MS, type LocalServer, serveLocally } from "./server";

export interface ListenFlags extends SecretFlags {
  readonly port: number;
  readonly forwardTo?: string;
  readonly register?: string;
  readonly events: readonly string[];
  readonly anyEvent?: boolean;
  readonly save?: string;
  /** The port of the page; true for a free one. */
  readonly page?: number | true;
  readonly print?: boolean;
  readonly json?: true;
}

const AGAIN = "To stop at once, press Ctrl-C again.";

/** Listens until it is stopped. @throws CliError or WebhookError */
export async function listen(flags: ListenFlags): Promise<void> {
  const output = new Output({ json: flags.json });
  failIfUnwritable();
  const unread = once(process.stdout, "error");
  const release = endOnInterrupt();
  const { secrets, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS } = await output.during(
    () => "Reading the signing secrets…",
    // The stack of --register may have the settings alone.
    readSecrets(flags, { stackToo: flags.register === undefined }),
  );
  const account =
    flags.register === undefined
      ? undefined
      : await output.during(
          () => "Reading the stack's settings…",
          openService({ pulumi: Pulumi.withSettings(flags.stack) }),
        );
  const folder =
    flags.save === undefined ? undefined : await CaptureFolder.open(flags.save, (text) => output.warn(text));
  release();

  const stopped = new AbortController();
  const note = (text: string) => output.note(text);
  const endpoint =
    account &&
    new TemporaryEndpoint({
      account,
      url: flags.register ?? "",
      isCareful: true,
      cancelled: stopped.signal,
      note,
    });
  // Nobody would hear of what it answers with 200.
  const stop = Promise.race([stopSignal({ left: () => endpoint?.leftover }), unread]);
  void stop.then(() => stopped.abort());
  const target =
    flags.forwardTo === undefined
      ? undefined
      : { url: flags.forwardTo, dispatcher: openWayTo(flags.forwardTo) };
  let address = "";
  let pageUrl: string | undefined;
  const reporter = new Reporter({
    output,
    printAddress: () =>
      output.record({ url: address, ...(pageUrl === undefined ? {} : { page: pageUrl }) }, address),
    isPrinting: flags.print === true,
    folder,
  });
  const page = flags.page === undefined ? undefined : new ListenPage({ address: () => address, target });
  const receiver = localReceiver({
    secrets: secrets.map(({ value }) => value),
    toleranceSeconds,
    target,
    events: flags.events.length === 0 ? undefined : new Set(flags.events),
    onReceived: (received, request, answer) => {
      page?.received(received, request, answer);
      reporter.received(received, request);
    },
    onRefused: (refused, request) => {
      page?.refused(refused, request);
      reporter.refused(refused, request);
    },
  });
  try {
    const server = await serveLocally(nodeHandler(receiver), { port: flags.port, option: "--port" });
    address = server.url;
    void stop.then(() => sayWhatIsLeft({ output, endpoint, server, reporter }));
    let pageServer: LocalServer | undefined;
    try {
      const port = flags.page === true ? 0 : flags.page;
      // Not at the receiver's port, which a tunnel may show to the world.
      if (page && port !== undefined) {
        pageServer = await serveLocally(page.handler(), { port, option: "--page" });
        pageUrl = `${pageServer.url}${LISTEN_PAGE_PATH}`;
      }
      if (account !== undefined && endpoint !== undefined) {
        const registering = endpoint.register().catch((error: unknown) => {
          showAnswer(error, account, (text) => output.warn(text));
          throw error;
        });
        const id = await output.during(() => "Registering the endpoint…", registering);
        const { urlBefore } = endpoint;
        if (urlBefore !== undefined)
          output.warn(
            `the service has changed the url of ${id}, which was ${describeUrl(urlBefore)}: it keeps one endpoint for each account. Whoever had that url gets no events until it is registered again`,
          );
        output.note(
          {
            true: `The service already had ${id}${urlBefore === undefined ? " with this url" : ""}, and answered with that, so it stays when this command stops.`,
            false: `Registered ${id}. It is deleted when this command stops.`,
            undefined: `The service has ${id} with this url, and nothing tells whether it is new. So it stays when this command stops: delete it with \`${account.withStack(`npx webhook-endpoints delete ${quoted(id)}`)}\`.`,
          }[`${endpoint.wasThere}`],
        );
      }
      reporter.start();
      if (pageUrl !== undefined) output.note(`The page is at ${pageUrl}`);
      await stop;
    } finally {
      try {
        await endpoint?.remove();
      } finally {
        await Promise.all([server.close(), pageServer?.close()]);
        await reporter.end();
      }
    }
  } catch (error) {
    if (!(stopped.signal.aborted && error instanceof WebhookError && error.code === "ABORTED")) throw error;
  } finally {
    await account?.client.close();
    await target?.dispatcher.destroy();
  }
}

interface Stopping {
  readonly output: Output;
  readonly endpoint: TemporaryEndpoint | undefined;
  readonly server: LocalServer;
  readonly reporter: Reporter;
}

/** Says why the command does not stop at once. If it has only prepared a registration, it does. */
async function sayWhatIsLeft({ output, endpoint, server, reporter }: Stopping): Promise<void> {
  // A registration that only waited has ended by then.
  await setImmediate();
  const isTemporary = endpoint !== undefined && endpoint.wasThere === false;
  // The service does not send a delivery again that was answered with 200.
  if (isTemporary && !endpoint.isSent) await reporter.end();
  if (isTemporary && !endpoint.isSent) {
    output.note("Stopped before anything was registered.");
    process.exit(EXIT.yes);
  }
  const waiting = server.inProgress();
  if (isTemporary) output.note(`Stopping. Any endpoint that it registered is deleted first. ${AGAIN}`);
  else if (waiting > 0)
    output.note(
      `Stopping. Waiting up to ${CLOSING_MS / 1000} s for ${countOf(waiting, "request")} under way. ${AGAIN}`,
    );
}
