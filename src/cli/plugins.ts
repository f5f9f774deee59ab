import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { AnyPlugin } from "../policy/plugin.ts";
import { registry } from "../policy/registry.ts";

/** A file of plugins that cannot be used; the message names it and says what it must be. */
export class PluginsError extends Error {}

/**
 * The plugins of a file (TypeScript or JavaScript) that exports a list named `plugins`, or Berth's own without a file.
 *
 * @throws {PluginsError} when there is no such file, it fails, or the list is none
 */
export async function loadPlugins(file: string | undefined): Promise<readonly AnyPlugin[]> {
  if (!file) return registry;
  const module = await load(file);
  const { plugins } = module;
  if (!Array.isArray(plugins) || plugins.length === 0 || !plugins.every(isPlugin)) {
    throw new PluginsError(`${file} must export a list named plugins, each made with definePlugin`);
  }
  const names = plugins.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) throw new PluginsError(`${file} has two plugins named ${twice}`);
  return plugins;
}

async function load(file: string): Promise<{ readonly plugins?: unknown }> {
  try {
    return await import(pathToFileURL(resolve(file)).href);
  } catch (error) {
    throw new PluginsError(`${file} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function isPlugin(value: unknown): value is AnyPlugin {
  const { name, version, args, prepare } = Object(value);
  return typeof name === "string" && Number.isInteger(version) && typeof prepare === "function" && Boolean(args);
}
