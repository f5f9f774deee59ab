import { describe, expect, it } from "vitest";
import { readSample } from "../sample.ts";
import { nodesSent, question } from "./body.ts";
import { extenderErrors } from "./events.ts";
import { percentile, shownBytes } from "./numbers.ts";

describe("nodesSent", () => {
  it.each([
    [4, 4],
    [99, 99],
    [100, 100],
    [1000, 420],
    [5000, 500],
  ])("is of %i nodes the %i that kube-scheduler looks at", (all, sent) => {
    expect(nodesSent(all)).toBe(sent);
  });
});

describe("question", () => {
  it("repeats nodes that are too few under names of their own", async () => {
    const sample = await readSample();
    const { text, nodes, bytes } = question(sample, sample.nodes, { count: 10, names: true, source: "here" });
    const { NodeNames: names } = JSON.parse(text);
    expect(new Set(names).size).toBe(10);
    expect(nodes).toBe(10);
    expect(bytes).toBe(Buffer.byteLength(text));
  });
});

describe("numbers", () => {
  it("are percentiles by the nearest rank", () => {
    expect(percentile([5, 1, 4, 2, 3], 0.5)).toBe(3);
    expect(percentile([5, 1, 4, 2, 3], 0.99)).toBe(5);
  });

  it("are bytes as people say them", () => {
    expect([shownBytes(13_500), shownBytes(5_670_000)]).toEqual(["13.5 kB", "5.67 MB"]);
  });
});

describe("extenderErrors", () => {
  const event = (message: string, uid = "1") => ({ message, involvedObject: { uid } });

  it.each([
    ['Post "https://h/s3cret/default/filter": context deadline exceeded', "an extender that did not answer in time"],
    ["failed filter with extender at URL https://h/s3cret/default, code 401", "an extender that answered HTTP 401"],
    [
      'Post "https://10.0.0.5/s3cret": tls: failed to verify certificate: x509: cannot validate certificate for 10.0.0.5 because it doesn\'t contain any IP SANs',
      "a certificate without IP SANs",
    ],
    [
      'Post "https://h/s3cret": tls: failed to verify certificate: x509: certificate signed by unknown authority',
      "a certificate of an unknown authority",
    ],
  ])("gives %s as a cause without its URL", (message, cause) => {
    expect(extenderErrors([event(message), event(message), event(message, "2")])).toEqual([{ cause, pods: 2 }]);
  });

  it("leaves events alone that tell of no extender", () => {
    expect(extenderErrors([event("0/3 nodes are available: 3 Insufficient cpu.")])).toEqual([]);
  });
});
