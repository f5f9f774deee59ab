import { PassThrough } from "node:stream";
import { WriteStream } from "node:tty";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createScreen } from "./screen.ts";

/** A stream that may pass for a terminal, and what was written to it. */
function output(terminal: boolean) {
  const stream = new PassThrough();
  const written: string[] = [];
  stream.on("data", (chunk: Buffer) => written.push(chunk.toString()));
  const tty = Object.assign(stream, {
    isTTY: terminal,
    columns: 80,
    getColorDepth: WriteStream.prototype.getColorDepth,
  });
  return { stream: tty as unknown as NodeJS.WriteStream, text: () => written.join("") };
}

afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

function colours(wanted: Readonly<Record<string, string | undefined>>) {
  vi.stubEnv("TERM", "xterm-256color");
  // Node takes a terminal in CI for one without colours.
  for (const name of ["NO_COLOR", "FORCE_COLOR", "NODE_DISABLE_COLORS", "CI"]) vi.stubEnv(name, wanted[name]);
}

describe("what npm start writes", () => {
  it("has colours and moving progress on a terminal", async () => {
    colours({});
    const [out, err] = [output(true), output(true)];
    const screen = createScreen(out.stream, err.stream);
    expect(screen.paint("red", "refused")).toBe("\x1b[31mrefused\x1b[39m");
    expect(screen.width).toBe(80);
    await screen.step(
      "working",
      async () => 7,
      (result) => `worked: ${result}`,
    );
    expect(err.text()).toMatch(/⠋ working/);
    expect(err.text()).toMatch(/worked: 7\n$/);
  });

  it("has no colours where NO_COLOR is set", () => {
    colours({ NO_COLOR: "1" });
    expect(createScreen(output(true).stream, output(true).stream).paint("red", "refused")).toBe("refused");
  });

  it("is plain lines away from a terminal, results apart from progress", async () => {
    colours({});
    const [out, err] = [output(false), output(false)];
    const screen = createScreen(out.stream, err.stream);
    expect(screen.paint("red", "refused")).toBe("refused");
    expect(screen.width).toBe(Number.POSITIVE_INFINITY);
    await screen.step(
      "working",
      async () => 7,
      (result) => `worked: ${result}`,
    );
    screen.print("a result");
    expect(err.text()).toBe("✔ worked: 7\n");
    expect(out.text()).toBe("a result\n");
  });

  it("says at once what takes seconds, and every five seconds that it goes on, where nothing can move", async () => {
    vi.useFakeTimers();
    const err = output(false);
    const { promise, resolve } = Promise.withResolvers<number>();
    const screen = createScreen(output(false).stream, err.stream);
    const done = screen.step(
      "working",
      () => promise,
      (result) => `worked: ${result}`,
      "slow",
    );
    expect(err.text()).toBe("working …\n");
    await vi.advanceTimersByTimeAsync(10_000);
    resolve(7);
    await done;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(err.text()).toBe("working …\nworking … 5 s\nworking … 10 s\n✔ worked: 7\n");
  });

  it("puts a remark in the place of moving progress, never behind it", async () => {
    colours({ NO_COLOR: "1" });
    const err = output(true);
    const screen = createScreen(output(true).stream, err.stream);
    await screen.step(
      "working",
      async () => screen.note("a remark"),
      () => "worked",
    );
    expect(err.text()).toContain("⠋ working\r\x1b[2Ka remark\n");
  });

  it("leaves no half line behind when the work fails", async () => {
    colours({});
    const err = output(true);
    const screen = createScreen(output(true).stream, err.stream);
    const failing = screen.step(
      "working",
      async () => {
        throw new Error("it broke");
      },
      () => "never",
    );
    await expect(failing).rejects.toThrow("it broke");
    expect(err.text()).toSatisfy((text: string) => text.endsWith("working\r\x1b[2K"));
  });
});
