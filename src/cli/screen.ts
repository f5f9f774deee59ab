import { styleText } from "node:util";

/** Where `berth dev` writes: results to stdout, progress and problems to stderr. */
export interface Screen {
  /** Colours a text of stdout; gives it back as it is where colours are not wanted. */
  readonly paint: (format: Parameters<typeof styleText>[0], text: string) => string;
  /** Characters that fit on a line of stdout; unlimited where it is not a terminal. */
  readonly width: number;
  /** Writes a result. */
  print(text: string): void;
  /** Writes a remark or a problem. */
  note(text: string): void;
  /** Shows that something goes on while the work takes, and what came of it. */
  step<T>(label: string, work: () => Promise<T>, done: (result: T) => string): Promise<T>;
}

/** A stream that may be a terminal. */
type Output = NodeJS.WriteStream;

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;
const CLEAR_LINE = "\r\x1b[2K";

/** A screen on two streams. Colours follow the streams: a terminal has them, unless NO_COLOR is set. */
export function createScreen(out: Output, err: Output): Screen {
  const note = (text: string) => void err.write(`${text}\n`);
  return {
    paint: (format, text) => styleText(format, text, { stream: out }),
    width: out.isTTY ? out.columns : Number.POSITIVE_INFINITY,
    print: (text) => void out.write(`${text}\n`),
    note,
    async step(label, work, done) {
      const spinner = spin(err, label);
      try {
        const result = await work();
        spinner.stop();
        note(`${styleText("green", "✔", { stream: err })} ${done(result)}`);
        return result;
      } finally {
        spinner.stop();
      }
    },
  };
}

/** A moving line with the seconds gone by, on a terminal only. */
function spin(err: Output, label: string): { stop(): void } {
  if (!err.isTTY) return { stop: () => undefined };
  let frame = 0;
  const draw = () => {
    const seconds = Math.floor((frame * FRAME_MS) / 1000);
    const since = seconds > 0 ? ` ${seconds} s` : "";
    err.write(`${CLEAR_LINE}${FRAMES[frame++ % FRAMES.length]} ${label}${since}`);
  };
  draw();
  const timer = setInterval(draw, FRAME_MS);
  return {
    stop() {
      if (timer.hasRef()) err.write(CLEAR_LINE);
      timer.unref();
      clearInterval(timer);
    },
  };
}
