import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ImageName } from '#shared/contract/images.ts'
import type { Network } from '#shared/contract/sandboxes.ts'
import { countIds, type IdBlock, rootIdOffsets } from './idBlocks.ts'
import { findIdRange, type IdRange, toNumberInRange } from './images/idRange.ts'
import { createNotInRangeError, removeInRange } from './images/inRange.ts'
import { type NetworkSupport, probeNetwork } from './network/networkSupport.ts'
import { makeTree, type SandboxFolder, type SandboxFolders, type SandboxName } from './sandboxFolder.ts'
import { createSharedUsers, type SharedUsers } from './sharedUsers.ts'
import type { Spawner } from './spawner.ts'
import { hiddenMountPoint, type SandboxUser, toLaunchRequest } from './startRequest.ts'
import { createIdAllocations } from './takenIds.ts'
import { tryLaunch } from './tryLaunch.ts'

/** Host uids of the sandboxes' root users. */
export type SandboxUsers = {
  /** Allocates an unused uid for a new sandbox. @returns undefined if its root is the user that runs Steward */
  choose(sandbox: { name: SandboxName; image: ImageName | null; network: Network }): Promise<number | undefined>
  /** @throws AppError `runtime/unavailable` if the uid can no longer be used */
  find(instance: SandboxFolder): Promise<SandboxUser | undefined>
  /** Transfers the uid to another sandbox. */
  pass(from: SandboxName, to: SandboxName): void
  /** Releases the uid. Called after the files are removed. */
  giveBack(name: SandboxName): void
  /** Probes which networks are available to sandboxes with or without a separate uid. */
  networks(hasOwn: boolean): Promise<NetworkSupport>
  /** Returns the reason why sandboxes have no separate uid, or undefined if they have one. */
  obstacle(): Promise<string | undefined>
  close(): void
}

type UserOptions = {
  folder: string
  folders: SandboxFolders
  /** Networks that are unreachable with `internet`, such as `10.0.0.0/8`. */
  closed: readonly string[]
  /** @throws AppError `runtime/unavailable` */
  tools: () => Promise<{ perl: string; spawner: Spawner }>
}

type SeparateUsers = { range: IdRange; shared: SharedUsers }
/** Used only by probes, never by a sandbox. */
const probeNumber = rootIdOffsets.first - 1
const sharedUserNotice =
  'Sandboxes share the kernel’s per-user limits, such as files in transit over sockets, with your programs'

export function createSandboxUsers({ folder, folders, closed, tools }: UserOptions): SandboxUsers {
  const isRoot = process.getuid?.() === 0
  const ids = createIdAllocations(folders.ids)
  const networks = new Map<boolean, Promise<NetworkSupport>>()
  let current: SharedUsers | undefined
  let probing: Promise<SeparateUsers | string> | undefined

  const probe = async (): Promise<SeparateUsers | string> => {
    const range = await findIdRange()
    if (typeof range === 'string') return range
    const { perl, spawner } = await tools()
    current ??= createSharedUsers({ perl, range })
    const refusal = await tryUser({ folder, spawner, shared: current })
    return refusal ?? { range, shared: current }
  }

  /**
   * Probes separate uids once. Repeats the probe only while the user has no id range, because one may be assigned
   * later.
   */
  const probeOwnUsers = async (): Promise<SeparateUsers | string> => {
    probing ??= probe().catch((error: unknown) => (error instanceof Error ? error.message : String(error)))
    const users = await probing
    if (typeof users === 'string' && typeof (await findIdRange()) === 'string') probing = undefined
    return users
  }

  /** Caches success. Retries after errors, because missing programs may have been installed since. */
  const getNetworks = async (hasOwn: boolean): Promise<NetworkSupport> => {
    const users = hasOwn && !isRoot ? await probeOwnUsers() : undefined
    if (typeof users === 'string') return getNetworks(false)
    const user = users && { uid: probeNumber, holder: await users.shared.holder() }
    const probe = networks.get(hasOwn) ?? probeNetwork(closed, user)
    networks.set(hasOwn, probe)
    const answer = await probe
    if (!answer.tools) networks.delete(hasOwn)
    return answer
  }

  /** Whether a network works for the user that runs Steward, but not for the uids of sandboxes. */
  const needsSteward = async (network: Network): Promise<boolean> =>
    network !== 'none' && !(await getNetworks(true)).tools && (await getNetworks(false)).tools !== undefined

  return {
    async choose({ name, image, network }) {
      if (isRoot) return (await ids.take(name, countIds(image))).first
      if (image !== null) return undefined
      const users = await probeOwnUsers()
      if (typeof users === 'string' || (await needsSteward(network))) return undefined
      const { first, count } = rootIdOffsets
      const pool: IdBlock = { first: (users.range.firstUid ?? 0) + first - 1, count }
      return (await ids.take(name, 1, pool)).first
    },
    async find({ uid }) {
      if (uid === undefined) return undefined
      if (isRoot) return { uid, holder: undefined }
      const users = await probeOwnUsers()
      const number = typeof users === 'string' ? undefined : toNumberInRange(users.range, uid)
      if (typeof users === 'string' || number === undefined) throw createNotInRangeError(uid)
      return { uid: number, holder: await users.shared.holder() }
    },
    pass: ids.pass,
    giveBack: ids.giveBack,
    networks: getNetworks,
    async obstacle() {
      if (isRoot) return undefined
      const users = await probeOwnUsers()
      if (typeof users === 'string') return `${sharedUserNotice}. Separate users are not available: ${users}`
      return (await needsSteward('internet')) ? `${sharedUserNotice} if they have a network.` : undefined
    },
    close: () => current?.close(),
  }
}

/**
 * Starts a command with one of the ids, on files with the ownership used by sandboxes.
 * @returns the reason if it fails
 */
async function tryUser(options: {
  folder: string
  spawner: Spawner
  shared: SharedUsers
}): Promise<string | undefined> {
  const { folder, spawner } = options
  const probeFolder = join(folder, `probe-users-${process.pid}-${randomBytes(4).toString('hex')}`)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    makeTree(probeFolder, { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }, [
      { kind: 'folder', path: '/root', mode: 0o755 },
    ])
    const user = { uid: probeNumber, holder: await options.shared.holder() }
    const command = ['/bin/sh', '-c', `: > ${hiddenMountPoint}/root/file`]
    const files = { image: null, storage: { kind: 'folder' as const, path: probeFolder } }
    await tryLaunch(
      spawner,
      toLaunchRequest({ cgroups: [], folder: files, user, image: undefined, entries: [], command }),
    )
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    await removeInRange(probeFolder).catch(() => {}) // otherwise removed with the folder
  }
}
