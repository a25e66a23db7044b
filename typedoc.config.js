// The site: the pages of docs/ and the reference of every subpath. `npm run docs` builds it into site/.

const { exports: subpaths } = require("./package.json");

/** What a program can import, but for what only the state names. */
const entryPoints = Object.entries(subpaths)
  .filter(([name]) => !/^\.\/(provider|package\.json)$/.test(name))
  .map(([, conditions]) =>
    (conditions.require ?? conditions).types.replace("./dist/", "src/").replace(".d.ts", ".ts"),
  );

/** TypeDoc makes the anchor of a heading from its text alone. This makes text of the code in it, so that anchors are as on GitHub. */
function keepCodeInAnchors(parser) {
  parser.core.ruler.push("code-in-headings", ({ tokens }) => {
    const headings = tokens.filter((_, index) => tokens[index - 1]?.type === "heading_open");
    for (const code of headings.flatMap(({ children }) => children))
      if (code.type === "code_inline") code.type = "text";
  });
}

/** The parts of types that are documented as a whole. */
const partsOf = {
  "receiver.Claim.__type": ["retryAfterMs", "state", "token"],
  "receiver.SchemaIssue.path.__type": ["key"],
  "receiver.SchemaResult.__type": ["issues", "value"],
  "receiver.StandardSchema.~standard.__type": ["types", "validate", "vendor", "version"],
  "receiver.StandardSchema.~standard.__type.types.__type": ["input", "output"],
  "receiver/queues.SqsBatchResult.batchItemFailures.__type": ["itemIdentifier"],
  "receiver/queues.SqsEvent.Records.__type": ["body", "messageId"],
  "signature.HeadersLike.__type": ["forEach", "get"],
  "signature.VerificationResult.__type": ["id", "ok", "reason", "timestamp"],
  "validation.ValidationResult.__type": ["code", "reason", "validated"],
};

/** Types that programs never name. */
const intentionallyNotExported = [
  "CodedErrorOptions",
  "Fastify",
  "FAULTS",
  "OperationName",
  "ReceiverConfigEndpoint",
  "ShownResponses",
  "Signing",
  "SqsMessage",
  "Problem",
];

/** @type {import("typedoc").TypeDocOptions} */
module.exports = {
  name: "pulumi-webhook-endpoints",
  entryPoints,
  tsconfig: "tsconfig.build.json",
  readme: "scripts/frontPage.md",
  projectDocuments: ["README.md", "docs/*.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"],
  out: "site",
  // `npm run check` compiles the sources in its check of types.
  skipErrorChecking: true,
  highlightLanguages: ["js", "json", "python", "sh", "ts", "yaml", "yml"],
  // scripts/site.js draws them.
  ignoredHighlightLanguages: ["mermaid"],
  customJs: "scripts/site.js",
  // There is no public repository to link to yet.
  disableSources: true,
  excludePrivate: true,
  excludeInternal: true,
  searchInComments: true,
  searchInDocuments: true,
  markdownItLoader: keepCodeInAnchors,
  treatWarningsAsErrors: true,
  externalSymbolLinkMappings: { "@pulumi/pulumi": { CustomResource: "#" } },
  intentionallyNotExported,
  intentionallyNotDocumented: Object.entries(partsOf).flatMap(([type, parts]) =>
    parts.map((part) => `${type}.${part}`),
  ),
  validation: { notDocumented: true },
  requiredToBeDocumented: ["Function", "Class", "Interface", "TypeAlias", "Variable", "Method", "Property"],
};
