#!/usr/bin/env node
// The `berth` command. JavaScript that any Node runs: before `npm ci` has brought Node 24 and the packages, somebody
// has to say so.
try {
  const { run } = await import("./program.ts");
  await run(process.argv);
} catch (error) {
  const missing = error.code === "ERR_UNKNOWN_FILE_EXTENSION" || /^Cannot find package/.test(error.message);
  const hint =
    "run `npm ci` first, which brings Node 24 and all packages, then use `npm start`, another npm script or `npx berth`";
  process.stderr.write(
    `${missing ? `this checkout is not set up for Node ${process.version}: ${hint}` : error.message}\n`,
  );
  process.exitCode = 1;
}
