/**
 * Layers that confine a sandbox before any of its code runs. At least two layers stop every attack, so that no single
 * layer is essential. `test/integration/escapeLayers.test.ts` removes each in turn.
 */
export const sandboxLayers = [
  /** Seccomp filter installed before bwrap starts, and in every entering process. */
  'outer-filter',
  /**
   * Seccomp filter that bwrap installs for the first process, and that every entering process installs before it joins
   * the sandbox.
   */
  'inner-filter',
  /** Prevents the sandbox from creating user namespaces. */
  'user-namespaces',
  /** Session keyring separate from Steward's. */
  'keyring',
  /** Runs a static program as first process instead of the sandbox's own shell. */
  'static-init',
  /** Processes enter through namespaces pinned at the start instead of the first process's current ones. */
  'pinned-namespaces',
  /** Resource limit on processes, in addition to the cgroup's limit. */
  'process-limit',
  /** Drops CAP_NET_RAW, which allows packet sockets. */
  'no-raw-sockets',
  /** Filters raw Ethernet frames, which bypass the other network rules. */
  'frame-rules',
] as const

export type SandboxLayer = (typeof sandboxLayers)[number]
export type SandboxLayers = ReadonlySet<SandboxLayer>

export const allLayers: SandboxLayers = new Set(sandboxLayers)
