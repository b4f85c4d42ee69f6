import type { ContainerCreateOptions } from 'dockerode'
import type { SandboxSpec } from '#shared/contract/hostIpc.ts'
import { readAgentLoader } from './agentScript.ts'
import { ownerLabel, sandboxLabel, specLabel, toContainerName } from './ownership.ts'

/** Maximum number of processes and threads in one sandbox. Sufficient for a large build, and harmless to the host. */
export const maxProcesses = 1024

/** Same capabilities as in the bubblewrap runtime. */
const retainedCapabilities = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'SETGID',
  'SETUID',
  'SETPCAP',
  'NET_BIND_SERVICE',
  'SYS_CHROOT',
  'AUDIT_WRITE',
  'SETFCAP',
]

/** Volume mount declared by the image, with the existing volume to reuse. */
export type ReusedVolume = { name: string; target: string }

type SettingsOptions = {
  owner: string
  spec: SandboxSpec
  /** Image reference or id. */
  image: string
  volumes?: readonly ReusedVolume[]
}

export function buildContainerSettings({ owner, spec, image, volumes = [] }: SettingsOptions): ContainerCreateOptions {
  // Includes swap, so that processes that exceed the memory are killed.
  const memory = spec.memoryMb * 1024 * 1024
  return {
    name: toContainerName(owner, spec.id),
    Image: image,
    Hostname: spec.hostname,
    User: '0:0',
    WorkingDir: '/',
    Entrypoint: ['perl'],
    Cmd: ['-e', readAgentLoader()],
    // The agent ends the container when the connection closes.
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Tty: false,
    StopSignal: 'SIGKILL',
    Healthcheck: { Test: ['NONE'] },
    Labels: { [ownerLabel]: owner, [sandboxLabel]: spec.id, [specLabel]: JSON.stringify(spec) },
    HostConfig: {
      Memory: memory,
      MemorySwap: memory,
      NanoCpus: spec.vcpu * 1e9,
      PidsLimit: maxProcesses,
      NetworkMode: spec.network === 'none' ? 'none' : 'bridge',
      IpcMode: 'private',
      CapDrop: ['ALL'],
      CapAdd: retainedCapabilities,
      SecurityOpt: ['no-new-privileges'],
      Privileged: false,
      RestartPolicy: { Name: 'no' },
      LogConfig: { Type: 'none', Config: {} },
      Mounts: volumes.map(({ name, target }) => ({ Type: 'volume', Source: name, Target: target })),
    },
  }
}
