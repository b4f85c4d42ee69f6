import type { Enforced, Sandbox, SandboxStatus } from '#shared/contract/sandboxes.ts'
import { openRecord, toPlainWord } from '#shared/openRecord.ts'
import type { Tone } from '../StatusDot.tsx'

const tones: Record<SandboxStatus, Tone> = openRecord(
  {
    provisioning: 'caution',
    running: 'positive',
    stopped: 'neutral',
    error: 'negative',
  },
  () => 'neutral',
)

const words: Record<SandboxStatus, string> = openRecord(
  {
    provisioning: 'Starting',
    running: 'Running',
    stopped: 'Stopped',
    error: 'Failed',
  },
  toPlainWord,
)

export function getStatusTone(status: SandboxStatus): Tone {
  return tones[status]
}

export function getStatusLabel(status: SandboxStatus): string {
  return words[status]
}

/** Formats resources such as `2 vCPU · 512 MB · 1 GB`. */
export function formatResources({ vcpu, memory_mb, disk_gb }: Pick<Sandbox, 'vcpu' | 'memory_mb' | 'disk_gb'>): string {
  return [`${vcpu} vCPU`, formatMemory(memory_mb), `${disk_gb} GB`].join(' · ')
}

export function formatMemory(memoryMb: number): string {
  return memoryMb % 1024 === 0 ? `${memoryMb / 1024} GB` : `${memoryMb} MB`
}

const limitNames: readonly (readonly [keyof Enforced, string])[] = [
  ['cpu', 'vCPU'],
  ['memory', 'memory'],
  ['disk', 'disk'],
  ['processes', 'number of processes'],
]

/**
 * Lists the limits that this computer cannot enforce, such as `memory and disk`.
 * @returns undefined if all are enforced
 */
export function describeUnenforced(enforced: Enforced): string | undefined {
  const names = limitNames.filter(([limit]) => !enforced[limit]).map(([, name]) => name)
  if (names.length < 2) return names[0]
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
