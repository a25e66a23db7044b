import * as fc from "fast-check";
import { prettyJson } from "../../../src/emulator/page/json";

test("JSON is indented, and its strings, numbers and repeated names keep their spelling", () => {
  const text = '{"a":1.0,"a":-0e+2,"b":[{},[],{"c":"\\u0041, {:}"}],"d":9007199254740993}';
  expect(prettyJson(text)).toBe(`{
  "a": 1.0,
  "a": -0e+2,
  "b": [
    {},
    [],
    {
      "c": "\\u0041, {:}"
    }
  ],
  "d": 9007199254740993
}`);
});

test("what is not an object or an array, not JSON, or very long, is not indented", () => {
  for (const text of ["", "1", '"{}"', "{", "{}}", "{'a':1}", `[${"1,".repeat(200_000)}1]`])
    expect(prettyJson(text)).toBeUndefined();
});

test("deeply nested JSON stays short", () => {
  const deep = `${"[".repeat(3_000)}${"]".repeat(3_000)}`;
  expect((prettyJson(deep) ?? "").length).toBeLessThan(50 * deep.length);
});

test("indented JSON has the same content", () => {
  void fc.assert(
    fc.property(fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue())), (value) => {
      const text = JSON.stringify(value);
      expect(JSON.parse(prettyJson(text) ?? "")).toEqual(JSON.parse(text));
    }),
  );
});
