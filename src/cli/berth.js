#!/usr/bin/env node
// The `berth` command. JavaScript that any Node runs: before `npm ci` has brought Node 24 and the packages, somebody
// has to say so.
try {
  const { run } = await import("./program.ts");
  await run(process.argv);
} catch (error) {
  process.stderr.write(`${hint(error) ?? error.message}\n`);
  process.exitCode = 1;
}

/** What to do where this Node, or what is installed, cannot run the command at all. */
function hint({ code, message }) {
  const then = "use `npm start`, another npm script or `npx berth`";
  if (/^Cannot find package/.test(message)) {
    return `this checkout is not set up: run \`npm ci\` first, which brings Node 24 and all packages, then ${then}`;
  }
  if (code !== "ERR_UNKNOWN_FILE_EXTENSION") return undefined;
  return `Node ${process.version} cannot run TypeScript: run \`npm ci\`, if that is still to be done, then ${then}, which take its Node 24`;
}
