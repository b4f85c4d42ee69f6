import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ImageName } from '#shared/contract/images.ts'
import type { Network } from '#shared/contract/sandboxes.ts'
import { countIds, type IdBlock, numbersOfRoots } from './idBlocks.ts'
import { findIdRange, type IdRange, toNumberInRange } from './images/idRange.ts'
import { createNotInRangeError, removeInRange } from './images/inRange.ts'
import { type SandboxFolder, type SandboxFolders, type SandboxName, makeTree } from './machineFolder.ts'
import { type NetworkAbilities, probeNetwork } from './network/networkAbilities.ts'
import { createSharedUsers, type SharedUsers } from './sharedUsers.ts'
import type { Spawner } from './spawner.ts'
import { doorway, type SandboxUser, toLaunchRequest } from './startRequest.ts'
import { listUsedIds } from './takenIds.ts'
import { tryLaunch } from './tryLaunch.ts'

/** Whom the roots of sandboxes are on this computer. */
export type SandboxUsers = {
  /**
   * Chooses a user for a new machine, which nothing else has.
   * @returns undefined where its root is the user that Steward runs as
   */
  choose(sandbox: { name: SandboxName; image: ImageName | null; network: Network }): Promise<number | undefined>
  /** @throws AppError `runtime/unavailable` if that user may no longer be used */
  find(instance: SandboxFolder): Promise<SandboxUser | undefined>
  /** Passes the id to another machine. */
  pass(from: SandboxName, to: SandboxName): void
  /** After its files are gone. */
  giveBack(name: SandboxName): void
  /** Probes what networks sandboxes with a user of their own can have, or those without. */
  networks(hasOwn: boolean): Promise<NetworkAbilities>
  /** Why sandboxes have no user of their own; undefined where they have. */
  obstacle(): Promise<string | undefined>
  close(): void
}

type UserOptions = {
  folder: string
  folders: SandboxFolders
  /** Networks that `internet` does not reach, such as `10.0.0.0/8`. */
  closed: readonly string[]
  /** @throws AppError `runtime/unavailable` */
  tools: () => Promise<{ perl: string; spawner: Spawner }>
}

type OwnUsers = { range: IdRange; shared: SharedUsers }
/** Only for probes. No sandbox has it. */
const probeNumber = numbersOfRoots.first - 1
const isShared =
  'Sandboxes share what the kernel counts by user, such as files sent over sockets, with your own programs'

export function createSandboxUsers({ folder, folders, closed, tools }: UserOptions): SandboxUsers {
  const isRoot = process.getuid?.() === 0
  const ids = listUsedIds(folders.ids)
  const networks = new Map<boolean, Promise<NetworkAbilities>>()
  let current: SharedUsers | undefined
  let probing: Promise<OwnUsers | string> | undefined

  const probe = async (): Promise<OwnUsers | string> => {
    const range = await findIdRange()
    if (typeof range === 'string') return range
    const { perl, spawner } = await tools()
    current ??= createSharedUsers({ perl, range })
    const refusal = await tryUser({ folder, spawner, shared: current })
    return refusal ?? { range, shared: current }
  }

  /** A range may have been given to the user since; whether it works is tried once. */
  const probeOwnUsers = async (): Promise<OwnUsers | string> => {
    probing ??= probe().catch((error: unknown) => (error instanceof Error ? error.message : String(error)))
    const users = await probing
    if (typeof users === 'string' && typeof (await findIdRange()) === 'string') probing = undefined
    return users
  }

  /** A success is cached. A failure is tried again, since missing programs may have been installed. */
  const getNetworks = async (hasOwn: boolean): Promise<NetworkAbilities> => {
    const users = hasOwn && !isRoot ? await probeOwnUsers() : undefined
    if (typeof users === 'string') return getNetworks(false)
    const user = users && { uid: probeNumber, holder: await users.shared.holder() }
    const probe = networks.get(hasOwn) ?? probeNetwork(closed, user)
    networks.set(hasOwn, probe)
    const answer = await probe
    if (!answer.tools) networks.delete(hasOwn)
    return answer
  }

  /** Whether a network works for the user that Steward runs as, and not for ids of sandboxes. */
  const needsSteward = async (network: Network): Promise<boolean> =>
    network !== 'none' && !(await getNetworks(true)).tools && (await getNetworks(false)).tools !== undefined

  return {
    async choose({ name, image, network }) {
      if (isRoot) return (await ids.take(name, countIds(image))).first
      if (image !== null) return undefined
      const users = await probeOwnUsers()
      if (typeof users === 'string' || (await needsSteward(network))) return undefined
      const { first, count } = numbersOfRoots
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
      if (typeof users === 'string') return `${isShared}. Separate users are not available: ${users}`
      return (await needsSteward('internet')) ? `${isShared} if they have a network.` : undefined
    },
    close: () => current?.close(),
  }
}

/** Starts a command as one of the ids, on files like those of a sandbox. @returns why that fails */
async function tryUser(options: {
  folder: string
  spawner: Spawner
  shared: SharedUsers
}): Promise<string | undefined> {
  const { folder, spawner } = options
  const place = join(folder, `probe-users-${process.pid}-${randomBytes(4).toString('hex')}`)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    makeTree(place, { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }, [
      { kind: 'folder', path: '/root', mode: 0o755 },
    ])
    const user = { uid: probeNumber, holder: await options.shared.holder() }
    const command = ['/bin/sh', '-c', `: > ${doorway}/root/file`]
    const files = { image: null, storage: { kind: 'folder' as const, path: place } }
    await tryLaunch(
      spawner,
      toLaunchRequest({ cgroups: [], folder: files, user, image: undefined, entries: [], command }),
    )
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    await removeInRange(place).catch(() => {}) // swept with the folder
  }
}
