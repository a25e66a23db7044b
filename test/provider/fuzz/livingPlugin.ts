import { Plugin } from "../plugin";

/** A plugin that is started again after a kill. */
export class LivingPlugin {
  #plugin: Promise<Plugin> | undefined;
  readonly #started: Promise<Plugin>[] = [];

  get(): Promise<Plugin> {
    if (this.#plugin === undefined) {
      this.#plugin = Plugin.start();
      this.#started.push(this.#plugin);
    }
    return this.#plugin;
  }

  kill(options: { alone: boolean }): void {
    void this.#plugin?.then((plugin) => plugin.kill(options));
    this.#plugin = undefined;
  }

  /** Returns the warnings of all plugins. */
  async warnings(): Promise<string[]> {
    const plugins = await Promise.all(this.#started);
    return plugins
      .flatMap(({ logs }) => logs)
      .flatMap(({ severity, message }) => (severity === "warning" ? [message] : []));
  }

  async stop(): Promise<void> {
    for (const plugin of this.#started) await (await plugin).stop();
  }
}
