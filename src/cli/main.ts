#!/usr/bin/env node
import { fail } from "./run";
import { webhookEndpoints } from "./webhookEndpoints";

webhookEndpoints().parseAsync().catch(fail);
