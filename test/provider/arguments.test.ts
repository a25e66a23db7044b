import { schema } from "../../src/plugin/schema";
import {
  checkArguments,
  declaredArguments,
  REPLACING_ARGUMENTS,
  REQUIRED_ARGUMENTS,
  type ReplacingArgument,
} from "../../src/provider/arguments";
import { UNKNOWN_VALUE } from "../../src/shared/optionChecks";
import { PROVIDER_CODE } from "../../src/shared/permanent";
import type { Properties } from "./engineModel";
import { urlOf, World } from "./world";

const valid = { url: "https://hooks.example.com/t0ken", type: "production" };
const output =
  "https://Calling [toString] on an [Output<T>] is not supported.\n\nTo get the value of an Output<T> as an Output<string> …/t0ken";
const pythonOutput =
  "https://Calling __str__ on an Output[T] is not supported.\n\nTo get the value of an Output[T] as an Output[str] …/t0ken";

test.each<[string, object, RegExp]>([
  ["no url", { url: undefined }, /^url is missing$/],
  ["an empty url", { url: "" }, /^url must be a non-empty string$/],
  ["a relative url", { url: "/t0ken" }, /^url must be an absolute URL/],
  ["another scheme", { url: "ftp://t0ken.example.com" }, /^url must be an absolute URL/],
  ["a port out of range", { url: "https://example.com:99999/t0ken" }, /^url must be an absolute URL/],
  ["a user in the url", { url: "https://t0ken:x@example.com/" }, /user name or password/],
  ["a fragment", { url: "https://example.com/#t0ken" }, /fragment/],
  ["a space in the url", { url: "https://example.com/t0ken x" }, /white space/],
  ["a line break after the url", { url: "https://example.com/t0ken\n" }, /white space/],
  ["a backslash in the url", { url: "https://example.com/\\t0ken" }, /backslashes/],
  ["an Output in a template literal", { url: output }, /^url holds an Output .*pulumi\.interpolate/],
  ["an Output in an f-string of Python", { url: pythonOutput }, /^url holds an Output .*Output\.format/],
  ["two schemes", { url: "https://https://example.com/t0ken" }, /host "https".*two schemes/],
  ["another type", { type: "staging" }, /^type must be "production" or "development"$/],
  ["no type", { type: undefined }, /^type is missing$/],
  ["an ip that is a name", { ip: "t0ken.example.com" }, /^ip must be/],
  ["an empty adoptId", { adoptId: "" }, /^adoptId must be the id/],
  ["an adoptId with a space", { adoptId: "wh t0ken" }, /^adoptId must be the id/],
  ["an adoptId that leads elsewhere", { adoptId: ".." }, /^adoptId must be the id/],
  ["the adoptId of a pending resource", { adoptId: "pending:t0ken" }, /not that of a pending resource/],
  ["ifExists warn", { ifExists: "warn" }, /^ifExists must be "fail" or "adopt" or "register"$/],
  ["an argument that does not exist", { URL: "t0ken" }, /^URL is not an argument.*use url/],
])("%s is refused, without its value", (_, change, problem) => {
  const { problems } = checkArguments({ ...valid, ...change });
  expect(problems.join("\n")).toMatch(problem);
  expect(problems.join("\n")).not.toContain("t0ken");
});

test.each<Record<string, unknown>>([
  Object.fromEntries(["url", "type", "ip", "adoptId"].map((name) => [name, UNKNOWN_VALUE])),
  { ...valid, ip: "2001:db8::/32", adoptId: "wh_1", ifExists: "register" },
])("%j pass", (args) => expect(checkArguments(args)).toEqual({ problems: [], warnings: [] }));

test.each([
  ["http://hooks.example.com/", "plain http"],
  ["https://localhost/", "only a private network"],
])("%s gets a warning as a production endpoint, and not as a development one", (url, warning) => {
  const { problems, warnings } = checkArguments({ url, type: "production" });
  expect(problems).toEqual([]);
  expect(warnings).toEqual([expect.stringContaining(warning)]);
  expect(checkArguments({ url, type: "development" }).warnings).toEqual([]);
});

test("null is an argument that was left out, and hidden inputs are none", () => {
  const names = ["__provider", "__urn", "__organization", "__urlIsSecret", "__after"];
  const hidden = Object.fromEntries(names.map((name) => [name, ""]));
  expect(declaredArguments({ ...valid, ip: null, ...hidden })).toEqual(valid);
});

/** Two values of each argument whose change replaces. */
const VALUES: Readonly<Record<ReplacingArgument, readonly [string, string]>> = {
  url: [urlOf("a"), urlOf("b")],
  type: ["production", "development"],
  ip: ["203.0.113.7", "203.0.113.8"],
};
async function created(names: readonly ReplacingArgument[]) {
  const world = new World();
  world.stack.isProgramRunning = true;
  const args = Object.fromEntries(names.map((name) => [name, VALUES[name][0]]));
  const inputs: Properties = { ...args, __provider: PROVIDER_CODE };
  return { world, inputs, ...(await world.plugin().create(inputs)) };
}
const required = REPLACING_ARGUMENTS.filter((name) => REQUIRED_ARGUMENTS.includes(name));

describe.each([
  ["all of its arguments", REPLACING_ARGUMENTS],
  ["only those that are required", required],
])("an endpoint with %s", (_, given) => {
  test("is replaced by a change of each that replaces, and by nothing else, as created and as read", async () => {
    const { world, inputs, id, outs } = await created(given);
    const { props } = await world.plugin().read(id, outs);
    for (const state of [outs, props]) {
      const replacesWith = async (change: Properties) =>
        (await world.plugin().diff(id, { ...state, __provider: PROVIDER_CODE }, { ...inputs, ...change }))
          .replaces;
      expect(await replacesWith({})).toEqual([]);
      for (const name of REPLACING_ARGUMENTS)
        expect(await replacesWith({ [name]: VALUES[name][1] })).toEqual([name]);
    }
    expect(schema.resources["webhooks:index:WebhookEndpoint"].properties).toMatchObject(
      Object.fromEntries(REPLACING_ARGUMENTS.map((name) => [name, expect.anything()])),
    );
  });
});

test("a read of an endpoint that somebody changed returns the other arguments as declared", async () => {
  const { world, inputs, id, outs } = await created(REPLACING_ARGUMENTS);
  const read = await world.plugin().read(id, { ...outs, type: "development" });
  expect({ ...read.inputs, __provider: PROVIDER_CODE }).toEqual(inputs);
});
