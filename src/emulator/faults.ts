import { checkNames, EmulatorError } from "./errors";
import { FAULT_KINDS, type Fault, type Operation, type PlantedFault } from "./fault";
import { isDelay, MAX_DELAY_MS } from "./timers";

export const FAULT_OPERATIONS: readonly Fault["operation"][] = ["any", "register", "list", "get", "delete"];

interface Planted {
  /** Identifies the fault in the emulator's page. */
  readonly number: number;
  readonly fault: Fault;
  toSkip: number;
  left: number;
  hits: number;
}

/** The planted faults. A request meets the first one that matches and is not used up. */
export class Faults {
  #planted: Planted[] = [];
  #count = 0;

  /** The faults that are not used up. The first one that matches a request applies. */
  get planted(): readonly Readonly<Planted>[] {
    return this.#planted;
  }

  /** @throws EmulatorError when the fault is invalid */
  plant(fault: Fault): PlantedFault {
    check(fault);
    this.#count += 1;
    const number = this.#count;
    const planted: Planted = { number, fault, toSkip: fault.after ?? 0, left: fault.times ?? 1, hits: 0 };
    this.#planted.push(planted);
    return {
      get hits() {
        return planted.hits;
      },
      remove: () => this.remove(number),
    };
  }

  remove(number: number): void {
    this.#planted = this.#planted.filter((planted) => planted.number !== number);
  }

  clear(): void {
    this.#planted = [];
  }

  /** Returns the fault that a request meets, and counts the hit. */
  take(operation: Operation | null, id: string | undefined): Fault | undefined {
    for (const planted of this.#planted) {
      const { fault } = planted;
      if (fault.operation !== "any" && fault.operation !== operation) continue;
      if (fault.id !== undefined && fault.id !== id) continue;
      if (planted.toSkip > 0) {
        planted.toSkip -= 1;
        continue;
      }
      planted.hits += 1;
      planted.left -= 1;
      if (planted.left <= 0) this.remove(planted.number);
      return fault;
    }
    return undefined;
  }
}

/** A test that plants many kinds may give all of them the options of one. */
const OPTIONS: Readonly<Record<string, true>> = {
  operation: true,
  id: true,
  after: true,
  times: true,
  kind: true,
  delayMs: true,
  bytes: true,
  status: true,
  headers: true,
  body: true,
  effect: true,
};

function check(fault: Fault): void {
  checkNames("plant a fault", fault, OPTIONS);
  const fail = (problem: string) => {
    throw new EmulatorError("EMULATOR_OPTIONS", `Cannot plant a fault: ${problem}.`);
  };
  if (!FAULT_OPERATIONS.includes(fault.operation)) {
    fail(`operation must be one of ${FAULT_OPERATIONS.join(", ")}`);
  }
  if (!FAULT_KINDS.includes(fault.kind)) fail(`kind must be one of ${FAULT_KINDS.join(", ")}`);
  if (fault.times !== undefined && !(fault.times >= 1)) fail("times must be at least 1");
  if (fault.after !== undefined && !(fault.after >= 0)) fail("after must be at least 0");
  if (
    fault.kind === "status" &&
    !(Number.isInteger(fault.status) && fault.status >= 200 && fault.status < 600)
  ) {
    fail("status must be from 200 to 599");
  }
  if ((fault.kind === "delay" || fault.kind === "late-commit") && !isDelay(fault.delayMs)) {
    fail(`delayMs must be from 0 to ${MAX_DELAY_MS}`);
  }
}
