import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Enforced } from '../../../../shared/contract/sandboxes.ts'
import { systemCallNumbers } from '../systemCallNumbers.ts'
import { cgroupCandidates } from './cgroupHierarchy.ts'
import { type CgroupController, canUse } from './cgroups.ts'
import { probeDisk } from './diskProbe.ts'
import type { DiskTemplates } from './diskTemplates.ts'
import { findHostTools, type HostTools } from './hostTools.ts'
import type { Spawner } from './spawner.ts'

export type HostAbilities = {
  /** Undefined when machines cannot be made here; `detail` tells why. */
  tools: HostTools | undefined
  detail: string
  controllers: readonly CgroupController[]
  enforced: Enforced
  /** What the disks of new machines are copies of; undefined where their size cannot be held to. */
  templates: DiskTemplates | undefined
}

const execute = promisify(execFile)
const probeMs = 10_000
const unprivileged = 65_534

/** Finds out by trying. Never rejects. @param folder where the files of machines are */
export async function probeHost(folder: string, spawnerOf: (perl: string) => Spawner): Promise<HostAbilities> {
  const controllers = await usableControllers()
  const enforces = new Set(controllers.flatMap((controller) => controller.enforces))
  const enforced: Enforced = {
    memory: enforces.has('memory'),
    cpu: enforces.has('cpu'),
    disk: false,
    processes: true, // by a cgroup or by a resource limit of the sandbox's own user namespace
  }
  const unable = (detail: string): HostAbilities => ({
    tools: undefined,
    detail,
    controllers,
    enforced,
    templates: undefined,
  })
  if (process.platform !== 'linux') return unable('Bubblewrap sandboxes need Linux.')
  if (systemCallNumbers() === undefined) return unable(`Bubblewrap sandboxes need x64 or arm64, not ${process.arch}.`)
  const tools = await findHostTools()
  if (typeof tools === 'string') return unable(tools)
  const refusal = await tryNamespaces(tools)
  if (refusal !== undefined) return unable(refusal)
  const version = await execute(tools.bwrap, ['--version'], { timeout: probeMs }).catch(() => undefined)
  const disk = await probeDisk({ spawner: spawnerOf(tools.perl), folder })
  const detail = [version?.stdout.trim() ?? 'bubblewrap', disk.detail].filter((it) => it !== undefined).join('. ')
  const held = { ...enforced, disk: disk.templates !== undefined }
  return { tools, detail, controllers, enforced: held, templates: disk.templates }
}

async function usableControllers(): Promise<CgroupController[]> {
  const [mounts, memberships] = await Promise.all(
    ['/proc/self/mountinfo', '/proc/self/cgroup'].map((path) => readFile(path, 'utf8').catch(() => '')),
  )
  const candidates = cgroupCandidates({ mounts: mounts ?? '', memberships: memberships ?? '' })
  const usable: CgroupController[] = []
  for (const places of candidates.controllers) {
    for (const place of places) {
      const taken = candidates.samePlace ? usable[0]?.parent : undefined
      if ((taken ?? place.parent) !== place.parent || !(await canUse(place, '/bin/sh'))) continue
      usable.push(place)
      break
    }
  }
  return usable
}

/** @returns why an unprivileged user may not make namespaces here */
async function tryNamespaces(tools: HostTools): Promise<string | undefined> {
  const probe = ['--unshare-all', '--uid', '0', '--gid', '0', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev']
  const nobody = process.getuid?.() === 0 ? { uid: unprivileged, gid: unprivileged } : {}
  try {
    await execute(tools.bwrap, [...probe, 'true'], { timeout: probeMs, cwd: '/', ...nobody })
    return undefined
  } catch (failure) {
    const said = failure instanceof Error && 'stderr' in failure ? String(failure.stderr).trim() : String(failure)
    const restricted = await readFile('/proc/sys/kernel/apparmor_restrict_unprivileged_userns', 'utf8').catch(() => '0')
    const remedy =
      restricted.trim() === '1'
        ? 'AppArmor forbids user namespaces here: allow bwrap with an AppArmor profile, or run `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`.'
        : 'User namespaces seem to be switched off: see /proc/sys/user/max_user_namespaces and, on older kernels, kernel.unprivileged_userns_clone.'
    return `bwrap is installed but cannot make a sandbox (${said}). ${remedy}`
  }
}
