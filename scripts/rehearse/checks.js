const fs = require("node:fs");
const path = require("node:path");

/** As the CLI names them in the archive that it looks for. */
const ARCHITECTURES = { x64: "amd64", arm64: "arm64" };

/** Returns the name of the archive that the CLI downloads on this machine. */
function archiveName(version) {
  return `pulumi-resource-webhooks-v${version}-${process.platform}-${ARCHITECTURES[process.arch]}.tar.gz`;
}

/** Throws unless the files of a release are those that the CLI looks for, and the schema says that they are in `repository`. */
function checkRelease(folder, { version, repository }) {
  const archive = archiveName(version);
  const files = fs.readdirSync(folder);
  if (!files.includes(archive)) throw new Error(`there is no ${archive}, but ${files.join(", ")}`);
  const { pluginDownloadURL } = JSON.parse(fs.readFileSync(path.join(folder, "schema.json"), "utf8"));
  const address = `github://api.github.com/${repository}`;
  if (pluginDownloadURL !== address)
    throw new Error(`pluginDownloadURL of schema.json is ${pluginDownloadURL} instead of ${address}`);
}

/** Throws unless an installed package has every file that its package.json names. */
function checkInstalled(folder) {
  const manifest = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
  const { main, types, typesVersions, bin, exports, files } = manifest;
  const named = textsIn([main, types, typesVersions, bin, exports, files]);
  const plain = named.filter((file) => !/[!*]/.test(file));
  const missing = plain.filter((file) => !fs.existsSync(path.join(folder, file)));
  if (missing.length > 0) throw new Error(`the package lacks ${missing.join(", ")}`);
}

function textsIn(value) {
  if (typeof value === "string") return [value];
  return Object.values(value ?? {}).flatMap(textsIn);
}

module.exports = { archiveName, checkInstalled, checkRelease };
