import { sign, verify } from "../../../src/signature";
import { disagreements, NPM_PEERS } from "./peers";

// `npm run signatures` does the same with libraries of other languages.
test.each(Object.entries(NPM_PEERS))("%s accepts our signatures, and we accept its", (_name, command) => {
  expect(disagreements(command(), { sign, verify })).toEqual([]);
});
