import { html } from "../../src/page/html";

test("html escapes every value, in content and in attributes", () => {
  const value = `<b title="x">'&amp;'</b>`;
  const escaped = "&#60;b title=&#34;x&#34;&#62;&#39;&#38;amp;&#39;&#60;/b&#62;";
  expect(html`<p title="${value}">${value}</p>`.markup).toBe(`<p title="${escaped}">${escaped}</p>`);
});

test("html inserts its own markup as it is, alone and in arrays, and nothing for false and undefined", () => {
  const item = (name: string) => html`<li>${name}</li>`;
  expect(html`<ul>${[item("a"), item("<"), [item("c")]]}</ul>${false}${undefined}${0}`.markup).toBe(
    "<ul><li>a</li><li>&#60;</li><li>c</li></ul>0",
  );
});

test("html does not trust an object that only looks like its markup", () => {
  const fake = JSON.parse('{"markup":"<script></script>","map":1}');
  expect(() => html`${fake}`).toThrow(TypeError);
});

test("html makes invisible and direction-changing characters visible", () => {
  expect(html`${"a\u202eb\u0000c\u200bd\ud800e\r\n\tf"}`.markup).toBe(
    "a\\u{202e}b\\u{0}c\\u{200b}d\\u{d800}e\\u{d}\n\tf",
  );
});
