/**
 * What closes a sandbox before anything of it runs. Each stops attacks that another stops as well, so that no single
 * one carries the sandbox: `test/integration/escapeLayers.test.ts` takes them away in turn.
 */
export const sandboxLayers = [
  /** A seccomp filter that is there before bwrap, and on whatever enters. */
  'outer-filter',
  /** One that bwrap sets for the first process, and every process that enters before it becomes the sandbox's. */
  'inner-filter',
  /** The sandbox can make no user namespaces. */
  'user-namespaces',
  /** It has a session keyring of its own, not Steward's. */
  'keyring',
  /** Its first process is a static program of ours; without it, the sandbox's own shell. */
  'static-init',
  /** Whoever enters does so by the namespaces as they were at the start; without it, by those of the first process now. */
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
