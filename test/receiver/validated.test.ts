import { validatedIds } from "../../src/receiver/validated";

afterEach(() => jest.useRealTimers());

test("the broken delivery of a validation is expected once, for a minute", () => {
  jest.useFakeTimers();
  const ids = validatedIds();
  for (const id of ["in time", "too late"]) ids.add(id);
  jest.advanceTimersByTime(59_999);
  expect([ids.expectsBroken("in time"), ids.expectsBroken("in time")]).toEqual([true, false]);
  jest.advanceTimersByTime(1);
  expect(ids.expectsBroken("too late")).toBe(false);
  expect(ids.expectsBroken("another")).toBe(false);
});

test("the ids of 32 validations are kept, the newest ones", () => {
  const ids = validatedIds();
  for (let count = 0; count < 33; count++) ids.add(String(count));
  expect([ids.expectsBroken("0"), ids.expectsBroken("1"), ids.expectsBroken("32")]).toEqual([
    false,
    true,
    true,
  ]);
});
