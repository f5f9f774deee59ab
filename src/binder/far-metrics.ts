import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { AskerMetrics } from "../remote/asker.ts";
import type { FarMetrics } from "../remote/far.ts";

/** Counts what plugins cost that only a function has. */
export interface RelayMetrics extends AskerMetrics, FarMetrics {
  /** The function does not answer, or does again. */
  away(away: boolean): void;
}

/** kube-scheduler waits 5 seconds, the deadline is one unless it is told otherwise. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

export function relayMetricsIn(registry: Registry): RelayMetrics {
  const registers = [registry];
  const rows = new Counter({
    name: "berth_far_rows_total",
    help: "Rows of plugins that only the function has, by where a decision had them from: memory or function.",
    labelNames: ["from"],
    registers,
  });
  const waiting = new Gauge({
    name: "berth_far_waiting",
    help: "Decisions that wait for the function now.",
    registers,
  });
  const waits = new Counter({
    name: "berth_far_waits_total",
    help: "Decisions that had to wait for the function.",
    registers,
  });
  const away = new Gauge({
    name: "berth_function_away",
    help: "1 while the function is not asked because it does not answer.",
    registers,
  });
  return {
    rows: (remembered, asked) => {
      rows.inc({ from: "memory" }, remembered);
      rows.inc({ from: "function" }, asked);
    },
    waiting: (change) => {
      waiting.inc(change);
      if (change > 0) waits.inc();
    },
    question: countQuestions(registers),
    away: (now) => away.set(Number(now)),
  };
}

function countQuestions(registers: Registry[]): AskerMetrics["question"] {
  const questions = new Counter({
    name: "berth_far_questions_total",
    help: "Questions to the function: answered, other_version, refused (an answer that cannot be used) or failed (none).",
    labelNames: ["outcome"],
    registers,
  });
  const seconds = new Histogram({
    name: "berth_far_question_seconds",
    help: "How long a question to the function took, by outcome.",
    labelNames: ["outcome"],
    buckets: SECONDS,
    registers,
  });
  const bytes = new Counter({
    name: "berth_far_bytes_total",
    help: "Bytes of questions and answers on the wire, packed as they go, headers not counted.",
    labelNames: ["direction"],
    registers,
  });
  return (outcome, { sent, received }, took) => {
    questions.inc({ outcome });
    seconds.observe({ outcome }, took);
    bytes.inc({ direction: "sent" }, sent);
    bytes.inc({ direction: "received" }, received);
  };
}
