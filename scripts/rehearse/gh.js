// Stands in for GitHub's command `gh` in the release's commands. A folder in RELEASES is a release; a draft is in a folder of its own.

const fs = require("node:fs");
const path = require("node:path");

function main([what, action, tag, ...rest]) {
  const release = path.join(process.env.RELEASES, tag);
  const draft = path.join(process.env.RELEASES, "drafts", tag);
  const command = `${what} ${action}`;
  if (command === "release create" && rest.includes("--draft")) {
    const files = rest.slice(
      0,
      rest.findIndex((each) => each.startsWith("--")),
    );
    if (fs.readFileSync(rest[rest.indexOf("--notes-file") + 1], "utf8").trim() === "")
      throw new Error("the release has no notes");
    fs.mkdirSync(draft, { recursive: true });
    for (const file of files) fs.copyFileSync(file, path.join(draft, path.basename(file)));
  } else if (command === "release edit" && rest.join() === "--draft=false") fs.renameSync(draft, release);
  else throw new Error(`gh ${command} ${rest.join(" ")} is not known here`);
}

main(process.argv.slice(2));
