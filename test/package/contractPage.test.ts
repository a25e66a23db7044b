import { parseEndpoint } from "../../src/client/parse";
import { sign, verify } from "../../src/signature";
import { read } from "./pages";

const page = read("docs/service-contract.md");

test("the known answer on the page of the contract is what sign returns and verify accepts", () => {
  const row = (name: string) => new RegExp(`^\\| ${name} \\| \`(.*)\` \\|$`, "m").exec(page)?.[1] ?? "";
  const message = {
    id: row("id"),
    timestamp: Number(row("timestamp")),
    body: row("body"),
    secret: row("secret"),
  };
  const headers = sign(message);
  expect(headers["webhook-signature"]).toBe(row("signature"));
  expect(verify(message.body, headers, message.secret, 0)).toBe(true);
});

test("the endpoint on the page of the contract is one that the client understands", () => {
  const shown = JSON.parse(/^```json\n(.*?)^```$/ms.exec(page)?.[1] ?? "");
  expect(parseEndpoint(shown)).toEqual(shown);
});
