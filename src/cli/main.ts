#!/usr/bin/env node
import { failUnlessInterrupted } from "./run";
import { webhookEndpoints } from "./webhookEndpoints";

webhookEndpoints().parseAsync().catch(failUnlessInterrupted);
