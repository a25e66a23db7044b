import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as ts from "typescript";
import { schema } from "../../src/plugin/schema";

const read = (file: string) => readFileSync(join(__dirname, "../..", file), "utf8");
/** In TypeScript, a value is a string, with its quotes. */
const withoutQuotes = (text: string) => text.replace(/`"(\w+)"`/g, "`$1`");

/** Returns the comment of each property of an interface, as one line. */
function commentsOf(file: string, name: string): Record<string, string> {
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.ES2022, true);
  const declared = source.statements.find(
    (each) => ts.isInterfaceDeclaration(each) && each.name.text === name,
  );
  if (declared === undefined || !ts.isInterfaceDeclaration(declared))
    throw new Error(`${file} has no ${name}`);
  const entries = declared.members.map((member) => {
    const [doc] = ts.getJSDocCommentsAndTags(member);
    const comment = ts.getTextOfJSDocComment(doc?.comment) ?? "";
    return [member.name?.getText() ?? "", withoutQuotes(comment.replace(/\s+/g, " "))];
  });
  return Object.fromEntries(entries);
}

const { resources, functions, provider } = schema;
const ARGUMENTS = [
  ["src/program/webhookEndpoint.ts", "WebhookEndpointArgs", resources["webhooks:index:WebhookEndpoint"]],
  ["src/program/webhooksProvider.ts", "WebhooksProviderArgs", provider],
  [
    "src/validation/receiverValidation.ts",
    "ReceiverValidationArgs",
    resources["webhooks:index:ReceiverValidation"],
  ],
  ["src/program/queries.ts", "GetWebhookEndpointArgs", functions["webhooks:index:getWebhookEndpoint"]],
  ["src/program/queries.ts", "GetWebhookEndpointsArgs", functions["webhooks:index:getWebhookEndpoints"]],
] as const;

test.each(ARGUMENTS)(
  "%s: the schema describes each argument of %s in the same words",
  (file, name, described) => {
    const properties = "inputs" in described ? described.inputs.properties : described.inputProperties;
    const texts = Object.entries(properties).map(([property, { description }]) => [property, description]);
    const comments = commentsOf(file, name);
    expect(texts.map(([property]) => property)).toEqual(Object.keys(comments));
    // The schema adds what only a program in another language has to know.
    const added = texts.map(([property = "", text = ""]) =>
      text.replace(comments[property] || "no comment", ""),
    );
    const allowed =
      /^(?:| Environment variable: `\w+`\.| Give exactly one of `secrets` and `receiver`\.| An object, or JSON\.)$/;
    expect(added.filter((text) => !allowed.test(text))).toEqual([]);
  },
);

test.each([
  [
    "docs/resource.md",
    [resources["webhooks:index:WebhookEndpoint"].inputProperties, provider.inputProperties],
  ],
  ["docs/receiver-validation.md", [resources["webhooks:index:ReceiverValidation"].inputProperties]],
])("%s names each number, value and default of the schema's arguments", (page, properties) => {
  const rows = read(page)
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  for (const [property, { description }] of properties.flatMap(Object.entries<{ description: string }>)) {
    const its = rows.filter((each) => each.split(" | ")[0]?.includes(`\`${property}\``));
    const row = withoutQuotes(its.join("\n"));
    const facts: string[] =
      description.replace(/such as `[^`]*`/, "").match(/`\w+`|\d+|(?<=Default: )\w+/g) ?? [];
    expect([property, facts.filter((fact) => !row.includes(fact))]).toEqual([property, []]);
  }
});
