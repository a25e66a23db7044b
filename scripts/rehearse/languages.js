const path = require("node:path");
const { archiveName } = require("./checks");
const { answer } = require("./quickStart");
const { codeOf, commandsOf, sectionOf } = require("./pages");

/** What each language's project has beside its program. */
const PROJECTS = {
  yaml: ({ code }) => ({ "Pulumi.yaml": code }),
  python: ({ code }) => ({
    "Pulumi.yaml": "name: jobs\nruntime: python\n",
    "requirements.txt": "",
    "__main__.py": code,
  }),
};

/**
 * Follows the page of other languages as a new user would, up to a program whose `pulumi up` downloads the plugin.
 */
async function goUp(user, { language, page, settings, github, repository }) {
  // The service has the url of the README's program already.
  const code = codeOf(page, language).replace("hooks.example.com", `${language}.example.com`);
  for (const [name, text] of Object.entries(PROJECTS[language]({ code }))) user.write(name, text);
  await user.type("pulumi stack init dev");
  const [get, add] = commandsOf(sectionOf(page, "Install the plugin"));
  await user.type(get.replace("OWNER/REPO", repository).replace("https://github.com", github.url));
  if (language === "python") await addPythonPackage(user);
  else await user.type(add);
  for (const command of commandsOf(sectionOf(page, "Configure it"))) await answer(user, command, settings);
  github.served.length = 0;
  await user.type("pulumi up");
  const expected = archiveName(github.version);
  if (github.served.join() !== expected)
    throw new Error(`it downloaded ${github.served.join() || "nothing"}`);
  const id = await user.type("pulumi stack output jobsId");
  if (!/^wh_/m.test(id)) throw new Error(`the endpoint has no id: ${id}`);
}

/** Does what `pulumi package add schema.json` does: the language hosts that set-up builds can't. */
async function addPythonPackage(user) {
  const packages = path.join(user.folder, "packages");
  user.env.PYTHONPATH = packages;
  await user.type("generateSdk python sdk < schema.json");
  const offline = "--isolated --quiet --no-deps --no-build-isolation --no-index";
  await user.type(`python3 -m pip install ${offline} --target '${packages}' ./sdk`);
}

module.exports = { goUp };
