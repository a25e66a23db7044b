import { PROVIDER_CODE, TYPE_TOKEN } from "../../src/shared/permanent";
import { read } from "./pages";

test("the import file on the page of the resource names the type and the provider as the state does", () => {
  const { resources } = JSON.parse(/^```json\n(.*?)^```$/ms.exec(read("docs/resource.md"))?.[1] ?? "");
  const properties = { url: "https://hooks.example.com/jobs", type: "production", __provider: PROVIDER_CODE };
  // test/engine/import.test.ts imports such an entry on the real CLI.
  expect(resources).toEqual([
    { type: TYPE_TOKEN, name: "jobs", id: "wh_5f0c2d", inputs: properties, outputs: properties },
  ]);
});
