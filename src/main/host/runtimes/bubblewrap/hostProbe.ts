import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Enforced, LimitGap } from '#shared/contract/sandboxes.ts'
import { getSystemCallNumbers } from '../systemCallNumbers.ts'
import type { CgroupController } from './cgroups.ts'
import { probeDisk } from './diskProbe.ts'
import type { DiskTemplates } from './diskTemplates.ts'
import { findHostTools, type HostTools } from './hostTools.ts'
import { findNamespaceRefusal, readNamespaceSettings } from './namespaceRefusal.ts'
import type { Spawner } from './spawner.ts'
import { findUsableCgroups } from './usableCgroups.ts'

export type HostProbe = {
  /** Absent if sandboxes cannot be created on this computer. `detail` contains the reason. */
  tools: HostTools | undefined
  detail: string
  /** Fix command, if there is one. */
  cure: string | null
  controllers: readonly CgroupController[]
  enforced: Enforced
  /** Reasons why individual limits cannot be enforced. */
  gaps: readonly LimitGap[]
  /** Templates for the disks of new sandboxes. Absent if disk sizes cannot be enforced. */
  templates: DiskTemplates | undefined
}

const execute = promisify(execFile)
const probeMs = 10_000
const unprivileged = 65_534

type Probe = {
  folder: string
  /** CPU weight of all sandboxes together: 1 to 10000, default 100. */
  cpuWeight: number
  createSpawner: (perl: string) => Spawner
}

/** Probes the support of this computer for sandboxes by trying. Never rejects. */
export async function probeHost({ folder, cpuWeight, createSpawner }: Probe): Promise<HostProbe> {
  const { controllers, gaps } = await findUsableCgroups({ cpuWeight })
  const enforces = new Set(controllers.flatMap((controller) => controller.enforces))
  const enforced: Enforced = {
    memory: enforces.has('memory'),
    cpu: enforces.has('cpu'),
    disk: false,
    processes: true, // enforced by a cgroup or by a resource limit of the sandbox's own user namespace
  }
  const unable = (detail: string, cure: string | null = null): HostProbe => ({
    tools: undefined,
    detail,
    cure,
    controllers,
    enforced,
    gaps,
    templates: undefined,
  })
  if (process.platform !== 'linux') return unable('Bubblewrap sandboxes require Linux.')
  if (getSystemCallNumbers() === undefined)
    return unable(`Bubblewrap sandboxes require x64 or arm64, not ${process.arch}.`)
  const tools = await findHostTools()
  if (!('bwrap' in tools)) return unable(tools.missing, tools.cure)
  const refusal = await tryNamespaces(tools)
  if (refusal !== undefined) return unable(refusal.reason, refusal.cure)
  const version = await execute(tools.bwrap, ['--version'], { timeout: probeMs }).catch(() => undefined)
  const disk = await probeDisk({ spawner: createSpawner(tools.perl), folder })
  const detail = [version?.stdout.trim() ?? 'bubblewrap', disk.detail].filter((it) => it !== undefined).join('. ')
  const limits = { ...enforced, disk: disk.templates !== undefined }
  const all =
    disk.detail === undefined ? gaps : [...gaps, { limit: 'disk' as const, reason: disk.detail, cure: disk.cure }]
  return { tools, detail, cure: null, controllers, enforced: limits, gaps: all, templates: disk.templates }
}

/** @returns the reason why an unprivileged user cannot create namespaces, or undefined if it can */
async function tryNamespaces(tools: HostTools): Promise<{ reason: string; cure: string | null } | undefined> {
  const probe = ['--unshare-all', '--uid', '0', '--gid', '0', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev']
  const unprivilegedUser = process.getuid?.() === 0 ? { uid: unprivileged, gid: unprivileged } : {}
  try {
    await execute(tools.bwrap, [...probe, 'true'], { timeout: probeMs, cwd: '/', ...unprivilegedUser })
    return undefined
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error)
    return findNamespaceRefusal(said, readNamespaceSettings)
  }
}
