import { describe, expect, it } from "vitest";
import { checkCommand } from "../commands/check.ts";
import { gatesProblem, parseGates } from "./feature-gates.ts";

describe("feature gates", () => {
  it("are read as kube-scheduler reads them: every boolean of Go, spaces, its own component before the name", () => {
    expect([...parseGates("A=true, B=false,kube:C=T,D = 0,")]).toEqual([
      ["A", true],
      ["B", false],
      ["C", true],
      ["D", false],
    ]);
    expect(gatesProblem("A=true, B=false,kube:C=T,D = 0,")).toBeUndefined();
    expect([gatesProblem(""), parseGates(undefined).size]).toEqual([undefined, 0]);
  });

  it.each([
    ["foo", "There is a missing bool value for foo. Write foo=true or foo=false."],
    ["A=true,foo", "There is a missing bool value for foo. Write foo=true or foo=false."],
    ["foo=", "foo= has an invalid value. Write foo=true or foo=false."],
    ["foo=yes", "foo=yes has an invalid value. Write foo=true or foo=false."],
    ["=true", "There is no feature gate before =true. Write NAME=true or NAME=false."],
  ])("are refused where kube-scheduler would not start: %s", (text, problem) => {
    expect(gatesProblem(text)).toBe(problem);
  });

  it("are refused by berth check before it looks at the file", async () => {
    const said: string[] = [];
    const command = checkCommand()
      .exitOverride()
      .configureOutput({ writeErr: (text) => void said.push(text) });
    const parse = command.parseAsync(["no-such-file.yaml", "--feature-gates", "foo"], { from: "user" });
    await expect(parse).rejects.toMatchObject({ exitCode: 1 });
    expect(said.join("")).toContain("'foo' is invalid. There is a missing bool value for foo. Write foo=true");
  });

  it("count all where the option stands twice", () => {
    const command = checkCommand().action(() => undefined);
    command.parse(["a.yaml", "--feature-gates", "A=true", "--feature-gates", "B=false"], { from: "user" });
    expect([...parseGates(command.opts()["featureGates"])]).toEqual([
      ["A", true],
      ["B", false],
    ]);
  });
});
