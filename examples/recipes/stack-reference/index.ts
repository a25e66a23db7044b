import * as pulumi from "@pulumi/pulumi";
import { parseReceiverConfig } from "pulumi-webhook-endpoints/stack";

const config = new pulumi.Config();

/** The quick start's stack, such as `acme/webhooks-quickstart/prod`. */
const endpoints = new pulumi.StackReference(config.require("endpointsStack"));

/** Stays secret. Parsed, so that a preview fails when it is none that a receiver can be built from. */
const receiver = endpoints.requireOutput("receiver").apply(parseReceiverConfig);

/** For the container, function or machine that runs the receiver, which calls `receiverFromEnv`. */
export const environment = { WEBHOOK_RECEIVER: pulumi.jsonStringify(receiver) };

/** Tells no secret: put it where a change starts the receiver anew, such as into an annotation or a tag. */
export const fingerprint = pulumi.unsecret(receiver.fingerprint);
