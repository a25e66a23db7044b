import type { FakeService, Registered } from "../provider/fakeService";
import type { Declared, Project } from "./project";

/** Compares the state and the service with what is declared: 0 missing, 0 twice, 0 orphans, and a stranger's endpoints stay. */
export function expectExactly(
  project: Project,
  service: FakeService,
  declared: Declared,
  strangers: readonly Registered[] = [],
): void {
  const recorded = project.ids();
  expect(Object.keys(recorded).sort()).toEqual(Object.keys(declared).sort());
  for (const [name, { opts: _opts, adoptId: _adoptId, ifExists: _ifExists, ...args }] of Object.entries(
    declared,
  ))
    expect(service.endpoints.find(({ id }) => id === recorded[name])).toMatchObject(args);
  const expected = [...Object.values(recorded), ...strangers.map(({ id }) => id)];
  expect(service.endpoints.map(({ id }) => id).sort()).toEqual(expected.sort());
}
