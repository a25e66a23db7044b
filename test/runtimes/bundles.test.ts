import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { compileFolder, removeFolders } from "../receiver/readme/app";
import { codeOf } from "../receiver/readme/page";
import { delivered, secret } from "../receiver/support";

const node = (cwd: string, args: readonly string[], env = {}) =>
  promisify(execFile)(process.execPath, args, { cwd, env: { ...process.env, ...env } });
const modules = join(__dirname, "node_modules");

/** What bundles `app.js` of a folder, and where the bundle is then. */
const bundlers: Readonly<Record<string, (folder: string) => Promise<string>>> = {
  "esbuild, as an ES module": (folder) => withEsbuild(folder, "esm", "out.mjs"),
  "esbuild, as CommonJS": (folder) => withEsbuild(folder, "cjs", "out.cjs"),
  "Vite, for a server": async (folder) => {
    await node(folder, [join(modules, "vite/bin/vite.js"), "build", "--ssr", "app.js", "--logLevel", "warn"]);
    renameSync(join(folder, "dist/app.js"), join(folder, "out.mjs"));
    return "out.mjs";
  },
  webpack: async (folder) => {
    const output = { path: folder, filename: "out.cjs", library: { type: "commonjs2" } };
    const options = { mode: "production", target: "node", entry: "./app.js", output };
    const program = `require(${JSON.stringify(join(modules, "webpack"))})(${JSON.stringify(options)}, (error, result) => {
      if (error ?? result.hasErrors()) throw error ?? new Error(result.toString());
    });`;
    await node(folder, ["-e", program]);
    return "out.cjs";
  },
};

async function withEsbuild(folder: string, format: "esm" | "cjs", name: string): Promise<string> {
  const [entryPoints, outfile] = [[join(folder, "app.js")], join(folder, name)];
  await build({ entryPoints, outfile, bundle: true, platform: "node", format, logLevel: "silent" });
  return name;
}

/** Away from any package. */
const alone = mkdtempSync(join(tmpdir(), "bundle-"));
afterAll(() => {
  removeFolders();
  rmSync(alone, { recursive: true });
});

test.each(Object.entries(bundlers))(
  "the page's function for Lambda, bundled with %s, starts and verifies, and is smaller than 40 KiB",
  async (_bundler, bundle) => {
    const files = {
      "app.ts": codeOf("AWS Lambda: API Gateway, function URL, load balancer"),
      "receiver.ts": codeOf("receiver.ts"),
    };
    const folder = compileFolder({ files, packages: {} });
    const name = await bundle(folder);
    expect(readFileSync(join(folder, name)).length).toBeLessThan(40 * 1024);
    renameSync(join(folder, name), join(alone, name));
    const { headers, body } = delivered();
    const requestContext = { http: { method: "POST" } };
    const events = [`${body}`, `${body}`, "{}"].map((body) => ({ requestContext, headers, body }));
    const load = name.endsWith(".mjs") ? "import" : "require";
    const program = `(async () => {
      const { handler } = await ${load}("./${name}");
      for (const event of ${JSON.stringify(events)}) console.log((await handler(event)).statusCode);
    })();`;
    const env = { WEBHOOK_RECEIVER: JSON.stringify({ version: 1, secrets: [secret] }) };
    const { stdout, stderr } = await node(alone, ["-e", program], env);
    expect(stdout).toBe("job_1 is done\n200\n200\n401\n");
    expect(stderr).toContain("refused (signature-mismatch)");
  },
);
