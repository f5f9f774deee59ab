import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { extendersBlock } from "./extenders-block.ts";

const caData = Buffer.from("-----BEGIN CERTIFICATE-----\n").toString("base64");
const block = extendersBlock({ url: "https://127.0.0.1:8787", profile: "default", caData });

describe("the extenders block", () => {
  it("is a whole KubeSchedulerConfiguration that asks to prioritize over verified HTTPS", () => {
    expect(parse(block)).toEqual({
      apiVersion: "kubescheduler.config.k8s.io/v1",
      kind: "KubeSchedulerConfiguration",
      extenders: [
        {
          urlPrefix: "https://127.0.0.1:8787/default",
          prioritizeVerb: "prioritize",
          weight: 5,
          enableHTTPS: true,
          tlsConfig: { caData },
          httpTimeout: "1s",
          nodeCacheCapable: false,
          ignorable: true,
        },
      ],
    });
  });

  it("says why it does not filter and what filtering takes", () => {
    const comments = block.replaceAll(/\n +# /g, " ");
    expect(comments).toContain("blinds kube-scheduler's own scores");
    expect(comments).toContain("Add `filterVerb: filter` only where preemption is off");
    expect(comments).toContain("percentageOfNodesToScore: 100");
  });
});
