import { constants } from 'node:fs'
import { access, readFile, stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { LimitGap } from '#shared/contract/sandboxes.ts'
import { createCgroupCandidates, findUnifiedGroup } from './cgroupHierarchy.ts'
import { type CgroupController, canUse } from './cgroups.ts'
import { type CgroupFacts, describeCgroupGap } from './limitGaps.ts'
import { enterOwnScope, getUserBusPath, moveToLeafCgroup } from './ownGroup.ts'

export type UsableCgroups = {
  controllers: readonly CgroupController[]
  /** Reasons why memory and CPU are not limited, if they are not. */
  gaps: readonly LimitGap[]
}

const limited = ['memory', 'cpu'] as const

/**
 * Finds by trying the cgroups in which this user may limit sandboxes. If there are none, it may move this process: from
 * a login session to a new scope, or to a leaf within a group delegated to a system unit.
 * @param cpuWeight weight of all sandboxes together
 */
export async function findUsableCgroups({ cpuWeight }: { cpuWeight: number }): Promise<UsableCgroups> {
  const uid = process.getuid?.() ?? 0
  let usable = await tryCandidates(cpuWeight)
  let unified = findUnifiedGroup(await readCgroupFiles())
  if (unified && listMissing(usable).length > 0 && uid !== 0 && (await isInLoginSession(unified.group, uid))) {
    if (await enterOwnScope(uid)) usable = await tryCandidates(cpuWeight)
    unified = findUnifiedGroup(await readCgroupFiles())
  }
  if (unified && listMissing(usable).length > 0 && (await isDelegated(unified, listMissing(usable)))) {
    const back = await moveToLeafCgroup(unified.group)
    const inLeaf = back && (await tryCandidates(cpuWeight))
    if (inLeaf && listMissing(inLeaf).length < listMissing(usable).length) usable = inLeaf
    else await back?.()
  }
  const gaps = listMissing(usable)
  if (gaps.length === 0) return { controllers: usable, gaps: [] }
  const facts = await readCgroupFacts(uid)
  return { controllers: usable, gaps: gaps.map((limit) => describeCgroupGap(limit, facts)) }
}

function listMissing(controllers: readonly CgroupController[]): (typeof limited)[number][] {
  return limited.filter((limit) => !controllers.some(({ enforces }) => enforces.includes(limit)))
}

async function tryCandidates(cpuWeight: number): Promise<CgroupController[]> {
  const candidates = createCgroupCandidates(await readCgroupFiles(), cpuWeight)
  const usable: CgroupController[] = []
  for (const paths of candidates.controllers) {
    for (const controller of paths) {
      const path = candidates.sharesGroup ? usable[0]?.path : undefined
      if ((path ?? controller.path) !== controller.path || !(await canUse(controller, '/bin/sh'))) continue
      usable.push(controller)
      break
    }
  }
  return usable
}

async function readCgroupFiles(): Promise<{ mounts: string; memberships: string }> {
  const [mounts, memberships] = await Promise.all(['/proc/self/mountinfo', '/proc/self/cgroup'].map(readText))
  return { mounts: mounts ?? '', memberships: memberships ?? '' }
}

/**
 * Whether the group belongs neither to this user's service manager nor to a system unit of this user, as in a login
 * session.
 */
async function isInLoginSession(group: string, uid: number): Promise<boolean> {
  return !group.includes(`/user@${uid}.service/`) && (await findOwnUnit(group, uid)) === undefined
}

/** Returns the system unit of this process. Excludes units that only host the login, such as `ssh.service`. */
async function findOwnUnit(group: string, uid: number): Promise<string | undefined> {
  const unit = /\/system\.slice\/(?:.*\/)?([^/]+\.service)(?:\/|$)/.exec(group)?.[1]
  const pids = (await readText(join(group, 'cgroup.procs'))).split('\n').filter(Boolean)
  const owners = await Promise.all(pids.map((pid) => stat(`/proc/${pid}`).catch(() => undefined)))
  return owners.every((owner) => owner === undefined || owner.uid === uid) ? unit : undefined
}

/** Whether the group belongs to this user and has the controllers. Excludes the root group of a host or container. */
async function isDelegated(unified: { group: string; top: string }, limits: readonly string[]): Promise<boolean> {
  const { group, top } = unified
  if (group === top) return false
  const offered = await readControllers(group)
  return limits.some((limit) => offered.includes(limit)) && (await isWritable(join(group, 'cgroup.procs')))
}

async function readCgroupFacts(uid: number): Promise<CgroupFacts> {
  const files = await readCgroupFiles()
  const user = getName(uid)
  const unified = findUnifiedGroup(files)
  const separate = / - cgroup /.test(files.mounts) && createCgroupCandidates(files, 1).sharesGroup === false
  if (!unified || separate) return { version: separate ? 1 : undefined, uid, user }
  const { group, top } = unified
  const manager = join(top, 'user.slice', `user-${uid}.slice`, `user@${uid}.service`)
  return {
    version: 2,
    uid,
    user,
    unit: await findOwnUnit(group, uid),
    ofKernel: await readControllers(top),
    ofManager: (await isWritable(getUserBusPath(uid))) ? await readControllers(manager) : undefined,
    isReadOnly: await isReadOnlyPath(join(top, 'cgroup.procs')),
  }
}

/** Returns the user name, or the uid for users without a passwd entry. */
function getName(uid: number): string {
  try {
    return userInfo().username
  } catch {
    return String(uid)
  }
}

async function readControllers(group: string): Promise<string[]> {
  return (await readText(join(group, 'cgroup.controllers'))).trim().split(/\s+/)
}

async function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}

async function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  )
}

async function isReadOnlyPath(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => false,
    (error: unknown) => error instanceof Error && 'code' in error && error.code === 'EROFS',
  )
}
