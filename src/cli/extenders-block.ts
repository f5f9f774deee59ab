/** What an extenders block has to know of the function. */
export interface ExtenderTarget {
  /** Such as `https://127.0.0.1:8787`. */
  readonly url: string;
  readonly profile: string;
  /** The authority of the function's certificate: base64 of its PEM. */
  readonly caData: string;
}

/**
 * A KubeSchedulerConfiguration (`kubescheduler.config.k8s.io/v1`, k8s.io/kube-scheduler v0.37.2 config/v1) that asks
 * the function to prioritize. Its comments say why each line is there.
 */
export function extendersBlock({ url, profile, caData }: ExtenderTarget): string {
  return `# For kube-scheduler --config=FILE, beside your own clientConnection, leaderElection and profiles.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
  - urlPrefix: ${url}/${profile} # the last part is the profile of berth.yaml
    # Prioritize only. A filterVerb with whole nodes blinds kube-scheduler's own scores (Kubernetes 1.34 and newer, issue
    # 141781), and a filter without preempt makes preemption evict pods in vain, again and again. Add \`filterVerb: filter\`
    # only where preemption is off: \`disabled: [{name: DefaultPreemption}]\` under postFilter in every profile's plugins,
    # and with percentageOfNodesToScore: 100, or a pod can miss the few nodes that are allowed.
    prioritizeVerb: prioritize
    weight: 5 # a score of 10 adds 10 × 5 × 10 = 500 points to kube-scheduler's own sum of several hundred
    # Without caData enableHTTPS would turn certificate checks off.
    enableHTTPS: true
    tlsConfig:
      caData: ${caData}
    httpTimeout: 1s # what a function that hangs costs every pod; 5 s when not set
    nodeCacheCapable: false # sends whole nodes: the function knows of a node what the request carries
    ignorable: true # for a filterVerb: pods are scheduled without the function when it is away
`;
}
