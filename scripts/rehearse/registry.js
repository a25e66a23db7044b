const { execFile } = require("node:child_process");
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");
const { gzipSync } = require("node:zlib");
const { listen, respond } = require("./servers");

/** What a package's name or file looks like in a URL. */
const NAME = /^\/((?:@[\w.-]+\/)?[\w.-]+)$/;

/**
 * Starts an npm registry on this machine. It takes what `npm publish` sends, and serves every other package from the folder
 * `modules`, a `node_modules`. `published` gets the name and version of each package that was published.
 */
async function startRegistry({ modules, stage }) {
  const folders = foldersIn(modules);
  const documents = new Map();
  const tarballs = new Map();
  const published = [];

  function take(document, base) {
    for (const [file, { data }] of Object.entries(document._attachments))
      tarballs.set(`/${document.name}/-/${file}`, Buffer.from(data, "base64"));
    for (const { name, version, dist } of Object.values(document.versions)) {
      dist.tarball = `${base}/${name}/-/${name}-${version}.tgz`;
      published.push(`${name}@${version}`);
    }
    documents.set(document.name, document);
  }

  async function describe(name, base) {
    const versions = {};
    for (const folder of folders.get(name) ?? []) {
      const { scripts, ...manifest } = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
      const file = `/${name}/-/${path.basename(name)}-${manifest.version}.tgz`;
      const tarball = await pack(folder, stage);
      tarballs.set(file, tarball);
      const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
      versions[manifest.version] = { ...manifest, dist: { tarball: base + file, integrity } };
    }
    const [latest] = Object.keys(versions).sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
    const document = { name, "dist-tags": { latest }, versions };
    documents.set(name, document);
    return document;
  }

  const server = http.createServer(async (request, response) => {
    const base = `http://${request.headers.host}`;
    const url = decodeURIComponent(new URL(request.url, base).pathname);
    const [, name] = NAME.exec(url) ?? [];
    if (request.method === "PUT") {
      take(JSON.parse(Buffer.concat(await request.toArray()).toString()), base);
      respond(response, 201, "{}");
    } else if (tarballs.has(url)) respond(response, 200, tarballs.get(url));
    else if (documents.has(name) || folders.has(name))
      respond(response, 200, JSON.stringify(documents.get(name) ?? (await describe(name, base))));
    else respond(response, 404, JSON.stringify({ error: `this registry has no ${url}` }));
  });
  return { url: await listen(server), published };
}

/** Returns the folders of every package by its name: a nested one may be of another version. Links are the checkout's own packages. */
function foldersIn(modules, found = new Map(), scope = "") {
  for (const entry of fs.readdirSync(modules, { withFileTypes: true })) {
    if (!entry.isDirectory() || entry.name.startsWith(".")) continue;
    const folder = path.join(modules, entry.name);
    if (entry.name.startsWith("@")) {
      foldersIn(folder, found, `${entry.name}/`);
      continue;
    }
    const name = scope + entry.name;
    if (fs.existsSync(path.join(folder, "package.json")))
      found.set(name, [...(found.get(name) ?? []), folder]);
    const nested = path.join(folder, "node_modules");
    if (fs.existsSync(nested)) foldersIn(nested, found);
  }
  return found;
}

/** Packs an installed package without its own node_modules. Its files must be in a folder `package`, which is a link to them here. */
async function pack(folder, stage) {
  const place = fs.mkdtempSync(path.join(stage, "pack-"));
  fs.symlinkSync(folder, path.join(place, "package"));
  const args = ["-chf", "-", "--exclude=package/node_modules", "-C", place, "package"];
  const tar = await new Promise((resolve, reject) => {
    const options = { encoding: "buffer", maxBuffer: 1024 ** 3 };
    execFile("tar", args, options, (error, stdout) => (error ? reject(error) : resolve(stdout)));
  });
  return gzipSync(tar, { level: 1 });
}

module.exports = { startRegistry };
