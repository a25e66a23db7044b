import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { isAmbiguous, projectName, stackNameOf } from "../../src/settlement/stackName";

const urn = "urn:pulumi:dev::test::pulumi:pulumi:Stack::test-dev";

let folder: string;
let program: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "webhooks-stack-")));
  program = join(folder, "program");
  mkdirSync(program);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const backendOf = (environment: NodeJS.ProcessEnv, from = program) =>
  stackNameOf(urn, { environment: { PULUMI_HOME: join(folder, "home"), ...environment }, folder: from })
    .backend;
const settings = (text: string, name = "Pulumi.yaml") => writeFileSync(join(program, name), text);
function login(url: string, file = join(folder, "home", "credentials.json")): void {
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, JSON.stringify({ current: url, accessTokens: { [url]: "t0ken" } }, null, 2));
}

test.each([
  "file:///backend",
  "file:///backend/",
  "file:///backend//",
  "file:///backend?metadata=skip",
  "file:///x/../backend",
])("the backend %s is named as every other spelling of it", (PULUMI_BACKEND_URL) => {
  expect(backendOf({ PULUMI_BACKEND_URL })).toBe("file:///backend");
});

test.each(["https://api.pulumi.com", "https://api.pulumi.com/", "https://api.pulumi.com?x=1"])(
  "the backend %s is named without what does not tell it from another one",
  (PULUMI_BACKEND_URL) => {
    expect(backendOf({ PULUMI_BACKEND_URL })).toBe("https://api.pulumi.com");
  },
);

test.each([
  "postgres://user:passw0rd@db.example.com/pulumi",
  "postgres://other@db.example.com/pulumi?sslmode=require",
])("the backend %s is named without its user and password", (PULUMI_BACKEND_URL) => {
  expect(backendOf({ PULUMI_BACKEND_URL })).toBe("postgres://db.example.com/pulumi");
});

test("a backend's folder that is a link, or below one, is named by what it links to, also before it exists", () => {
  mkdirSync(join(folder, "real"));
  symlinkSync(join(folder, "real"), join(folder, "link"));
  const real = `file://${join(folder, "real")}`;
  expect(backendOf({ PULUMI_BACKEND_URL: `file://${join(folder, "link")}` })).toBe(real);
  expect(backendOf({ PULUMI_BACKEND_URL: `file://${join(folder, "link/not/yet")}` })).toBe(`${real}/not/yet`);
});

test("a backend's folder may begin with the home folder", () => {
  expect(backendOf({ PULUMI_BACKEND_URL: "file://~" })).toBe(`file://${realpathSync(homedir())}`);
});

test("a relative backend counts from the project's folder, wherever below it the program runs", () => {
  settings("name: test\nbackend:\n  url: file://./state\n");
  mkdirSync(join(program, "src"));
  const backend = `file://${join(program, "state")}`;
  expect(backendOf({})).toBe(backend);
  expect(backendOf({}, join(program, "src"))).toBe(backend);
});

test.each([
  ["Pulumi.yaml", "name: test\nbackend:\n  url: s3://bucket\n"],
  ["Pulumi.yaml", 'backend: { url: "s3://bucket" }\n'],
  ["Pulumi.yml", "backend:\n    url: 's3://bucket'\n"],
  ["Pulumi.yaml", "name: test\nbackend:\n  # of the team\n  url: s3://bucket\n"],
  [
    "Pulumi.yaml",
    "config:\n  backend:\n    url: no\nbackend: # of the team\n\n  # url: no\n  url: s3://bucket # yes\n",
  ],
  ["Pulumi.json", '{ "name": "test", "backend": { "url": "s3://bucket" } }'],
])("the backend is read from %s with the text %j", (name, text) => {
  settings(text, name);
  login("https://api.pulumi.com");
  expect(backendOf({})).toBe("s3://bucket");
});

test("the environment comes before Pulumi.yaml, and that before the login", () => {
  login("https://api.pulumi.com");
  expect(backendOf({})).toBe("https://api.pulumi.com");
  settings("backend:\n  url: s3://bucket\n");
  expect(backendOf({})).toBe("s3://bucket");
  expect(backendOf({ PULUMI_BACKEND_URL: "gs://other" })).toBe("gs://other");
});

test("the login is read from PULUMI_CREDENTIALS_PATH if that is set", () => {
  login("https://api.pulumi.com");
  login("https://pulumi.example.com", join(folder, "credentials", "credentials.json"));
  expect(backendOf({ PULUMI_CREDENTIALS_PATH: join(folder, "credentials") })).toBe(
    "https://pulumi.example.com",
  );
});

test("a stack does not take its name from the folder of its program", () => {
  login("file:///backend");
  const other = join(folder, "checkout-2");
  mkdirSync(other);
  expect(backendOf({}, other)).toBe(backendOf({}));
});

test.each([
  ["https://api.pulumi.com", true],
  ["", true],
  ["file:///backend", false],
  ["s3://bucket", false],
])("that another stack may have the same name in the backend %j is %s", (backend, ambiguous) => {
  expect(isAmbiguous({ urn, backend })).toBe(ambiguous);
});

test.each([
  [
    { PULUMI_BACKEND_URL: "azblob://state?storage_account=prod" },
    { PULUMI_BACKEND_URL: "azblob://state?storage_account=staging" },
  ],
  [
    { PULUMI_BACKEND_URL: "azblob://state", AZURE_STORAGE_ACCOUNT: "prod" },
    { PULUMI_BACKEND_URL: "azblob://state", AZURE_STORAGE_ACCOUNT: "staging" },
  ],
  [{ PULUMI_BACKEND_URL: "s3://state" }, { PULUMI_BACKEND_URL: "s3://state?endpoint=minio.example.com" }],
  [
    { PULUMI_BACKEND_URL: "s3://state" },
    { PULUMI_BACKEND_URL: "s3://state", AWS_ENDPOINT_URL_S3: "https://minio.example.com" },
  ],
  [
    { PULUMI_BACKEND_URL: "postgres://db.example.com/pulumi" },
    { PULUMI_BACKEND_URL: "postgres://db.example.com/pulumi?table=staging" },
  ],
])("the backends %j and %j have two names", (one, other) => {
  expect(backendOf(one)).not.toBe(backendOf(other));
});

test.each([
  [
    { PULUMI_BACKEND_URL: "azblob://state?storage_account=prod" },
    { PULUMI_BACKEND_URL: "azblob://state/", AZURE_STORAGE_ACCOUNT: "prod" },
  ],
  [{ PULUMI_BACKEND_URL: "s3://state" }, { PULUMI_BACKEND_URL: "s3://state?region=eu-west-1" }],
  [
    { PULUMI_BACKEND_URL: "gs://state" },
    { PULUMI_BACKEND_URL: "gs://state", AWS_ENDPOINT_URL: "http://localhost:4566" },
  ],
])("the backends %j and %j have one name", (one, other) => {
  expect(backendOf(one)).toBe(backendOf(other));
});

test.each([
  ["Pulumi.yaml", "name: shop\nruntime: nodejs\n", "shop"],
  ["Pulumi.yaml", "runtime: {name: nodejs}\nname: 'shop' # ours\n", "shop"],
  ["Pulumi.yaml", "\uFEFFname: shop\nruntime: nodejs\n", "shop"],
  ["Pulumi.yml", '{"runtime": {"name": "nodejs"}, "name": "shop"}', "shop"],
  ["Pulumi.json", '{\n  "name": "shop",\n  "runtime": "yaml"\n}', "shop"],
  ["Pulumi.yaml", "runtime: nodejs\n", undefined],
])("the project that %s names with %j is %j", (file, text, name) => {
  settings(text, file);
  expect(projectName(join(program, "infra"))).toBe(name);
});
