const fs = require("node:fs");
const path = require("node:path");
const { run, succeed } = require("../setup/tools");

/** The bash that reads no file of its user. */
const BASH = ["--norc", "-e", "-c"];

/** A user's machine: an empty home, and an empty folder in which commands are typed. */
class Machine {
  /** `path` comes first on PATH. `env` is all that the commands get beside PATH and the places of this machine. */
  constructor(place, { path: folders = [], env = {} } = {}) {
    this.folder = path.join(place, "project");
    const home = path.join(place, "home");
    const temporary = path.join(place, "tmp");
    for (const each of [this.folder, home, temporary]) fs.mkdirSync(each, { recursive: true });
    // npm put the commands of this checkout on PATH.
    const inherited = process.env.PATH.split(path.delimiter).filter((each) => !each.includes("node_modules"));
    const PATH = [...folders, ...inherited].join(path.delimiter);
    // The CLI takes its own home from the system's list of users, not from HOME.
    const places = { HOME: home, PULUMI_HOME: path.join(home, ".pulumi"), TMPDIR: temporary };
    this.env = { PATH, ...places, ...env };
  }

  write(name, text) {
    fs.mkdirSync(path.dirname(path.join(this.folder, name)), { recursive: true });
    fs.writeFileSync(path.join(this.folder, name), text);
  }

  /** Types a command, and then `answer` at its prompt. Returns what it printed. Throws if it fails. */
  async type(command, answer = "") {
    const options = {
      cwd: this.folder,
      env: { ...this.env, ANSWER: answer },
      said: (lines) => lines.slice(-40),
    };
    const lines = await succeed("bash", [...BASH, `printf %s "$ANSWER" | { ${command}\n}`], options);
    return lines.join("\n");
  }

  /** Starts a command that runs until this process ends. Returns a function that waits for a line that matches. */
  start(command) {
    const lines = [];
    let onLine = () => {};
    const options = {
      cwd: this.folder,
      env: this.env,
      onLine(line) {
        lines.push(line);
        onLine();
      },
    };
    const ended = run("bash", [...BASH, command], options);
    return (pattern) =>
      new Promise((resolve, reject) => {
        onLine = () => {
          const found = lines.map((line) => pattern.exec(line)).find((each) => each !== null);
          if (found !== undefined) resolve(found);
        };
        onLine();
        void ended.then(({ reason }) => reject(new Error([`${command}: ${reason}`, ...lines].join("\n"))));
      });
  }
}

module.exports = { Machine };
