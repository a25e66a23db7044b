import { declared, urlOf, World } from "./world";

// The example of CONTRIBUTING: copy it for a scenario of your own.
test("an up takes over what a lost registration made, and registers nothing else", async () => {
  const world = new World();
  const program = [declared("jobs")];
  // The request gets no response, and no list of this run shows an endpoint.
  world.service.fault({ operation: "register", kind: "hang-before" });
  expect(await world.up(program)).toEqual([expect.stringMatching(/REGISTRATION_PENDING/)]);

  // The service completes it late.
  const late = world.service.add({ url: urlOf("jobs") });
  expect(await world.up(program)).toEqual([]);
  // The stack has exactly the declared endpoint, and the service has no other.
  expect(world.differences(program)).toEqual([]);
  expect(world.service.endpoints).toEqual([late]);
});
