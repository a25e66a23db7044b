import { ARGUMENT_NAMES, ARGUMENTS } from "../../src/provider/arguments";
import { SETTING_NAMES, SETTINGS } from "../../src/provider/settings";
import { PROVIDER_CODE, TYPE_TOKEN } from "../../src/shared/permanent";
import { read } from "./pages";

const page = read("docs/resource.md");

test("the page of the resource lists every setting with its three places, whether it is required, and its default", () => {
  const rows = page.match(/^\| `[a-z]\w*` \| `webhooks:.*$/gm) ?? [];
  const listed = rows.map((row) => {
    const [name = "", ...places] = [...row.matchAll(/`([^`]+)`/g)].slice(0, 3).map(([, text = ""]) => text);
    const [, byDefault, orThis] = /[Dd]efault `?(\w+)|`(\w+)` \(the default\)/.exec(row) ?? [];
    // What the client does without a header or a scheme is no default of the setting.
    const isOfClient = !("byDefault" in (Reflect.get(SETTINGS, name) ?? {}));
    return [name, ...places, row.endsWith("Required. |"), isOfClient ? undefined : (byDefault ?? orThis)];
  });
  const known = SETTING_NAMES.map((name) => {
    const { variable, ...setting } = SETTINGS[name];
    const byDefault = "byDefault" in setting ? setting.byDefault : undefined;
    return [name, `webhooks:${name}`, variable, "neededAs" in setting, byDefault];
  });
  expect(listed).toEqual(known);
});

test("the page of the resource says of each argument whether it is required, and whether a change replaces the endpoint", () => {
  const rows = [...page.matchAll(/^\| `(\w+)` \| (required|optional) \| (.*) \|$/gm)].map(
    ([, name, need, text]) => ({
      name,
      isRequired: need === "required",
      replaces: text?.endsWith("A change replaces the endpoint.") ?? false,
    }),
  );
  const described = rows.filter(({ name = "" }) => name in ARGUMENTS);
  const known = ARGUMENT_NAMES.map((name) => {
    const { isRequired, replaces } = ARGUMENTS[name];
    return { name, isRequired, replaces };
  });
  expect(described).toEqual(known);
});

test("the import file on the page of the resource names the type and the provider as the state does", () => {
  const { resources } = JSON.parse(/^```json\n(.*?)^```$/ms.exec(page)?.[1] ?? "");
  const properties = { url: "https://hooks.example.com/jobs", type: "production", __provider: PROVIDER_CODE };
  // test/engine/lifecycle.test.ts imports such an entry on the real CLI.
  expect(resources).toEqual([
    { type: TYPE_TOKEN, name: "jobs", id: "wh_5f0c2d", inputs: properties, outputs: properties },
  ]);
});
