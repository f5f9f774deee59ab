import { exec } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { documentedCommands } from "./commands.ts";

const ROOT = new URL("../../", import.meta.url);

/** Commands that this test runs as they stand. */
const RUN_HERE = [
  "npm run policy",
  "npx wrangler deploy --dry-run --outdir dist/worker",
  "npx berth serve --help",
  "npx berth schedule --help",
  "npx berth config --wiring prioritize-only --function-url https://berth.example.com",
  "npx berth config --wiring direct --function-url https://berth.example.com --timeout 1500ms",
  "npx berth config --wiring relay --binder-url https://10.96.0.20 --server-name berth-binder.berth-system.svc --ca-file /etc/kubernetes/berth/ca.crt --client-cert /etc/kubernetes/berth/client.crt --client-key /etc/kubernetes/berth/client.key",
  "npx berth config --wiring second-scheduler --platform eks --function-url https://berth.example.com",
  "npx berth config --help",
  "npx berth config --wiring prioritize-only --function-url https://berth.example.com | npx berth check - --kubernetes-version 1.37",
  "npx berth check --help",
  "npx berth doctor --help",
  "npx berth explain --file src/cli/sample-request.json",
  "npx wrangler deploy --dry-run --env production --outdir dist/worker",
  "npm run --silent policy && npx esbuild src/adapters/lambda.ts --bundle --platform=node --format=esm --outfile=dist/lambda/index.mjs",
];

/** Commands that something else runs, with the file that does and what has to stand in it. */
const RUN_ELSEWHERE: Readonly<Record<string, readonly [file: string, proof: string]>> = {
  "npm ci && npm start": ["test/cli/dev.test.ts", "npm start"],
  "npm ci && npm test": [".ci/run", "npm test"],
  "npm run check": ["package.json", '"test": "npm run --silent check && vitest run"'],
  "npx vitest run --project unit": ["vitest.config.ts", 'name: "unit"'],
  "npx vitest run --project workerd": ["vitest.config.ts", 'name: "workerd"'],
  "npx vitest run --project e2e": ["vitest.config.ts", 'name: "e2e"'],
  "npm run bench": ["test/e2e/bench.test.ts", '["--smoke"]'],
  "npm run bench -- scheduler": ["test/e2e/bench.test.ts", '["scheduler", "--smoke"]'],
  "npm run bench -- relay": ["test/e2e/bench.test.ts", '["relay", "--smoke"]'],
  "npm run bench -- outage": ["test/e2e/bench.test.ts", '["outage", "--smoke"]'],
  "npm run bench -- direct": ["test/e2e/bench.test.ts", '["direct", "--smoke"]'],
  "npm run bench -- binder": ["test/e2e/bench.test.ts", '["binder", "--smoke"]'],
  "npm run bench -- cache": ["test/e2e/bench.test.ts", '["cache", "--smoke"]'],
  "npm run bench -- quiet": ["test/e2e/bench.test.ts", '["quiet", "--smoke"]'],
  "CLUSTER_A_TOKEN=$(openssl rand -hex 16) BERTH_PLUGINS=examples/custom-plugin/plugins.ts BERTH_CONFIG=examples/custom-plugin/berth.yaml npx berth serve":
    ["test/e2e/custom-plugin.ts", 'plugins: join(folder, "plugins.ts")'],
  "npx berth shadow https://10.96.0.20 --ca ca.crt --cert client.crt --key client.key": [
    "test/e2e/shadow.test.ts",
    '"shadow", binder.url',
  ],
  "npx berth certs": ["test/cli/certs.test.ts", '["certs", "--folder"'],
  "npx berth doctor --config scheduler.yaml --kubeconfig admin.conf": [
    "test/e2e/doctor.test.ts",
    '"--config", config, "--kubeconfig"',
  ],
  "npx berth explain pod default/waiting": ["test/e2e/explain.test.ts", '"pod", "default/waiting"'],
  "npx berth explain nodes": ["test/e2e/explain.test.ts", 'explain("nodes")'],
  "npm run release": ["test/release/release.test.ts", '"npm run release"'],
  "node dist/release/berth.mjs --help": ["test/release/release.test.ts", 'berth("--help")'],
  "kubectl apply -k infra/overlays/dev": ["test/e2e/infra.test.ts", 'applyKustomization(plane, "overlays/dev")'],
  "npm run test:versions": ["package.json", "BERTH_E2E_VERSIONS=all vitest run --project e2e"],
};

/** Commands that need an account: the offline form that is run instead. */
const OFFLINE: Readonly<Record<string, string>> = {
  "npx wrangler deploy": "npx wrangler deploy --dry-run --outdir dist/worker",
  "npx wrangler deploy --env production": "npx wrangler deploy --dry-run --env production --outdir dist/worker",
  "npx wrangler secret put CLUSTER_A_PATH --env production": "npx wrangler secret put --help",
  "npx wrangler secret put CLUSTER_A_PATH": "npx wrangler secret put --help",
};

async function run(command: string): Promise<string> {
  const { stdout } = await promisify(exec)(command, { cwd: fileURLToPath(ROOT), timeout: 110_000 });
  return stdout;
}

describe("the documentation's commands", () => {
  it("are all run by a test, here or where this table says", async () => {
    for (const { page, command, needsAccount } of await documentedCommands()) {
      // All of that page, in order: test/e2e/quickstart.test.ts.
      if (page === "docs/quickstart.md") continue;
      const covered = needsAccount ? OFFLINE[command] : RUN_HERE.includes(command) || RUN_ELSEWHERE[command];
      expect(covered, `${page}: ${command}`).toBeTruthy();
    }
  });

  it("are run where the table says", async () => {
    for (const [command, [file, proof]] of Object.entries(RUN_ELSEWHERE)) {
      expect(await readFile(new URL(file, ROOT), "utf8"), command).toContain(proof);
    }
  });

  it.each([...new Set([...RUN_HERE, ...Object.values(OFFLINE)])])(
    "%s works",
    async (command) => {
      await expect(run(command)).resolves.toBeTypeOf("string");
    },
    120_000,
  );
});
