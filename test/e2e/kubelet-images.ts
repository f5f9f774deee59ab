import { join } from "node:path";
import { parse, stringify } from "yaml";
import { programPath } from "../controlplane/programs.ts";

const root = join(import.meta.dirname, "..", "..");

/** What an image is on this machine. */
export interface Image {
  readonly entrypoint: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  command(command: readonly string[]): readonly string[];
  edit(text: string): string;
}

/**
 * What this machine has of an image: kube-scheduler as it was built here, and `berth:…` as this checkout or another program.
 *
 * @param kubeconfig stands for the service account's token at its fixed path
 */
export function imageOf(image: string, program: string | undefined, kubeconfig: string): Image {
  const [, version] = /^registry\.k8s\.io\/kube-scheduler:v([\d.]+)$/.exec(image) ?? [];
  if (version !== undefined) {
    return {
      entrypoint: [],
      env: {},
      command: ([, ...args]) => [programPath({ name: "kube-scheduler", version }), ...args, "--bind-address=127.0.0.1"],
      edit: (text) => withKubeconfig(text, kubeconfig),
    };
  }
  if (!/^berth:/.test(image)) throw new Error(`the image ${image} is not one that this runner has`);
  const here = new Map([
    ["/nodejs/bin/node", process.execPath],
    ["/berth/berth.mjs", program ?? join(root, "src/cli/berth.js")],
  ]);
  return {
    entrypoint: [...here.values()],
    env: { BERTH_KUBECONFIG: kubeconfig },
    command: (command) => command.map((word) => here.get(word) ?? word),
    edit: (text) => text,
  };
}

/** A scheduler's configuration without a kubeconfig means the service account at its fixed path. */
function withKubeconfig(text: string, kubeconfig: string): string {
  if (!text.includes("kind: KubeSchedulerConfiguration")) return text;
  const configuration = parse(text);
  const clientConnection = { ...configuration.clientConnection, kubeconfig };
  return stringify({ ...configuration, clientConnection });
}
