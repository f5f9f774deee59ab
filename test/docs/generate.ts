import { writeGenerated } from "./generated.ts";

const written = await writeGenerated();
process.stdout.write(written.length === 0 ? "everything is up to date\n" : `written: ${written.join(", ")}\n`);
