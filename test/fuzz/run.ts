import { parseArgs } from "node:util";
import fc from "fast-check";
import { arriving, checkRequest, type Outcome } from "./request.ts";

const HELP = `node test/fuzz/run.ts              reads a million made-up requests whole, in pieces, with WebAssembly and with JSON.parse
node test/fuzz/run.ts --cases N    reads so many
node test/fuzz/run.ts --seed N     begins with this seed, which a failure names; otherwise with a random one

Ends with exit code 1 and the smallest request it finds that does not read alike.
`;

/** So many at a time: fast-check keeps what it needs to make one smaller. */
const BATCH = 10_000;

function main(): void {
  const { values } = parseArgs({
    options: {
      cases: { type: "string", default: "1000000" },
      seed: { type: "string", default: String(Date.now() % 2 ** 31) },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const seen: Record<Outcome, number> = { nodes: 0, names: 0, refused: 0 };
  const property = fc.property(arriving, (request) => {
    seen[checkRequest(request)]++;
  });
  for (let done = 0, seed = Number(values.seed); done < Number(values.cases); seed++) {
    const numRuns = Math.min(BATCH, Number(values.cases) - done);
    const result = fc.check(property, { seed, numRuns });
    if (result.failed) {
      process.stderr.write(`${fc.defaultReportMessage(result)}\n`);
      process.exitCode = 1;
      return;
    }
    done += numRuns;
    process.stderr.write(`${done} requests, seed ${seed}: ${JSON.stringify(seen)}\n`);
  }
}

main();
