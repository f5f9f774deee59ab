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
  /**
   * Shows that something goes on while the work takes, and what came of it.
   *
   * @param pace `slow` for what takes seconds: away from a terminal, where nothing moves, it is then said before it
   *   begins, and every five seconds that it goes on
   */
  step<T>(label: string, work: () => Promise<T>, done: (result: T) => string, pace?: Pace): Promise<T>;
}

/** How long the work of a step takes: a moment, or seconds. */
export type Pace = "quick" | "slow";

/** A stream that may be a terminal. */
type Output = NodeJS.WriteStream;

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;
const CLEAR_LINE = "\r\x1b[2K";
const LINE_MS = 5_000;

/** A screen on two streams. Colours follow the streams: a terminal has them, unless NO_COLOR is set. */
export function createScreen(out: Output, err: Output): Screen {
  // On a terminal a remark takes the place of a line that moves.
  const note = (text: string) => void err.write(`${err.isTTY ? CLEAR_LINE : ""}${text}\n`);
  return {
    paint: (format, text) => styleText(format, text, { stream: out }),
    width: out.isTTY ? out.columns : Number.POSITIVE_INFINITY,
    print: (text) => void out.write(`${text}\n`),
    note,
    async step(label, work, done, pace = "quick") {
      const progress = err.isTTY ? spin(err, label) : lines(note, label, pace);
      try {
        const result = await work();
        progress.stop();
        note(`${styleText("green", "✔", { stream: err })} ${done(result)}`);
        return result;
      } finally {
        progress.stop();
      }
    },
  };
}

interface Progress {
  stop(): void;
}

/** Lines for logs and pipes: none for what is done in a moment. */
function lines(note: Screen["note"], label: string, pace: Pace): Progress {
  if (pace === "quick") return { stop: () => undefined };
  const begun = performance.now();
  note(`${label} …`);
  const timer = setInterval(() => note(`${label} … ${Math.round((performance.now() - begun) / 1000)} s`), LINE_MS);
  return { stop: () => clearInterval(timer) };
}

/** A moving line with the seconds gone by. */
function spin(err: Output, label: string): Progress {
  const begun = performance.now();
  let frame = 0;
  const draw = () => {
    const seconds = Math.floor((performance.now() - begun) / 1000);
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
