/**
 * Layers that confine a sandbox before anything of it runs. Every attack is stopped by at least two, so that none is
 * essential: `test/integration/escapeLayers.test.ts` removes each in turn.
 */
export const sandboxLayers = [
  /** A seccomp filter that is there before bwrap, and on whatever enters. */
  'outer-filter',
  /** Filter that bwrap sets for the first process, and that every entering process sets before it joins the sandbox. */
  'inner-filter',
  /** The sandbox can make no user namespaces. */
  'user-namespaces',
  /** Session keyring separate from Steward's. */
  'keyring',
  /** First process is our static program; otherwise the sandbox's own shell. */
  'static-init',
  /**
   * Processes enter by the namespaces pinned at the start; otherwise by those that the first process has at that time.
   */
  'pinned-namespaces',
  /** A resource limit on processes, beside the cgroup's. */
  'process-limit',
  /** Drops CAP_NET_RAW, which allows packet sockets. */
  'no-raw-sockets',
  /** Filters raw Ethernet frames, which bypass the other network rules. */
  'frame-rules',
] as const

export type SandboxLayer = (typeof sandboxLayers)[number]
export type SandboxLayers = ReadonlySet<SandboxLayer>

export const allLayers: SandboxLayers = new Set(sandboxLayers)
