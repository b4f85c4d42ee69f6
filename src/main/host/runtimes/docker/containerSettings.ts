import type { ContainerCreateOptions } from 'dockerode'
import type { SandboxSpec } from '#shared/contract/hostIpc.ts'
import { readAgentLoader } from './agentScript.ts'
import { ownerLabel, sandboxLabel, specLabel, toContainerName } from './ownership.ts'

/** Processes and threads of one machine: enough for a large build, too few to hurt the host. */
export const maxProcesses = 1024

/** As of a sandbox of bubblewrap. */
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

/** A folder that the image declares as a volume, with the volume that holds it. */
export type ReusedVolume = { name: string; target: string }

type SettingsOptions = {
  owner: string
  spec: SandboxSpec
  /** A reference or an id. */
  image: string
  volumes?: readonly ReusedVolume[]
}

export function buildContainerSettings({ owner, spec, image, volumes = [] }: SettingsOptions): ContainerCreateOptions {
  // Swap included: what does not fit into the memory ends.
  const memory = spec.memoryMb * 1024 * 1024
  return {
    name: toContainerName(owner, spec.id),
    Image: image,
    Hostname: spec.hostname,
    User: '0:0',
    WorkingDir: '/',
    Entrypoint: ['perl'],
    Cmd: ['-e', readAgentLoader()],
    // When the connection closes, the agent ends the container.
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
