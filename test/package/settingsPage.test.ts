import { SETTING_NAMES } from "../../src/provider/settings";
import { read } from "./pages";

test("the page of the resource lists every setting of the provider with its three places, and no other", () => {
  const rows = read("docs/resource.md").match(/^\| `[a-z]\w*` \| `webhooks:.*$/gm) ?? [];
  const listed = rows.map((row) => [...row.matchAll(/`([^`]+)`/g)].slice(0, 3).map(([, name]) => name));
  const environmentName = (name: string) => `WEBHOOKS_${name.replace(/[A-Z]/g, "_$&").toUpperCase()}`;
  expect(listed).toEqual(SETTING_NAMES.map((name) => [name, `webhooks:${name}`, environmentName(name)]));
});
