import type { SandboxSpec } from '#shared/contract/hostIpc.ts'
import { ImageName } from '#shared/contract/images.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { shortenId } from '#shared/ids.ts'
import { toIsoTime } from '#shared/time.ts'
import type { SandboxRecord } from './sandboxRepository.ts'

export function toWireSandbox(
  record: SandboxRecord,
  { baseUrl, ports, cost }: { baseUrl: string; ports: Sandbox['forwarded_ports']; cost: NonNullable<Sandbox['cost']> },
): Sandbox {
  return {
    id: record.id,
    short_id: shortenId(record.id),
    name: record.name,
    status: record.status,
    status_reason: record.statusReason,
    vcpu: record.vcpu,
    memory_mb: record.memoryMb,
    disk_gb: record.diskGb,
    region: record.region,
    runtime: record.runtime,
    image: record.image,
    network: record.network,
    idle_minutes: record.idleMinutes,
    enforced: record.enforced,
    terminal_url: `${baseUrl}/terminal/${record.id}`,
    created_at: toIsoTime(record.createdAtMs),
    started_at: record.startedAtMs === null ? null : toIsoTime(record.startedAtMs),
    forwarded_ports: ports,
    cost,
  }
}

export function createSandboxSpec(record: SandboxRecord): SandboxSpec {
  const { id, name, runtime, vcpu, memoryMb, diskGb, network } = record
  const image = record.image === null ? null : ImageName.parse(record.image)
  return {
    id,
    hostname: toHostname(name) || `sandbox-${shortenId(id)}`,
    runtime,
    vcpu,
    memoryMb,
    diskGb,
    image,
    network,
  }
}

/**
 * Converts a name to an RFC 1123 label: letters, digits and inner hyphens, at most 63 characters. Empty if no valid
 * character remains.
 */
export function toHostname(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '')
}
