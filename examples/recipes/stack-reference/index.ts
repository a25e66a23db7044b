import * as pulumi from "@pulumi/pulumi";
import { parseReceiverConfig } from "pulumi-webhook-endpoints/stack";

const config = new pulumi.Config();

/** The quick start's stack, such as `acme/webhooks-quickstart/prod`. */
const endpoints = new pulumi.StackReference(config.require("endpointsStack"));

/** Stays secret. It is parsed so that a preview fails if no receiver can be created from it. */
const receiver = endpoints.requireOutput("receiver").apply(parseReceiverConfig);

/** For the container, function or machine that runs the receiver, which calls `receiverFromEnv`. */
export const environment = { WEBHOOK_RECEIVER: pulumi.jsonStringify(receiver) };

/** Changes with the secrets and reveals none: put it where a change restarts the receiver, such as an annotation or a tag. */
export const fingerprint = pulumi.unsecret(receiver.fingerprint);
