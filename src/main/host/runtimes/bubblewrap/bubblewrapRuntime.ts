import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { AppError } from '../../../../shared/appError.ts'
import type { MachineSpec } from '../../../../shared/contract/hostIpc.ts'
import type { Enforced, RuntimeReport } from '../../../../shared/contract/sandboxes.ts'
import type { SandboxId } from '../../../../shared/ids.ts'
import type { Log } from '../../../platform/log.ts'
import type { Machine, SandboxRuntime } from '../sandboxRuntime.ts'
import { type BaseEntry, type HostBase, machineContent, neededEntries, ownFiles, readHostBase } from './baseFiles.ts'
import { cgroupName, removeCgroups } from './cgroups.ts'
import { type HostAbilities, probeHost } from './hostAbilities.ts'
import { type MachineFolder, machineFolders } from './machineFolder.ts'
import { type NetworkAbilities, probeNetwork } from './network/networkAbilities.ts'
import { endProcess } from './processTable.ts'
import { startMachine } from './startMachine.ts'

export type BubblewrapOptions = {
  /** Machines are stored here, each in a folder named by its id; nobody else may write to it. */
  folder: string
  log: Log
  now: () => number
}

const name = 'bubblewrap'
const nothing: Enforced = { memory: false, cpu: false, disk: false, processes: false }
/**
 * As root every machine is a user of its own among those that Linux distributions and systemd leave unused.
 * @see https://systemd.io/UIDS-GIDS/
 */
const uids = { first: 1_900_000_000, count: 200_000_000 }

/** Machines of namespaces on the host's own programs, with `bwrap` (https://github.com/containers/bubblewrap). */
export function bubblewrapRuntime({ folder, log, now }: BubblewrapOptions): SandboxRuntime {
  const folders = machineFolders(folder)
  const isRoot = process.getuid?.() === 0
  let abilities: Promise<HostAbilities> | undefined
  let base: Promise<HostBase & { content: readonly BaseEntry[] }> | undefined
  let network: Promise<NetworkAbilities> | undefined
  const takenUids = new Set<number>()
  const active = new Set<SandboxId>()

  /** What works is not tried again; what does not may have been installed since. */
  const able = async (): Promise<HostAbilities> => {
    abilities ??= probeHost(folder)
    const found = await abilities
    if (!found.tools) abilities = undefined
    return found
  }

  const connectable = async (): Promise<NetworkAbilities> => {
    network ??= probeNetwork()
    const found = await network
    if (!found.tools) network = undefined
    return found
  }

  const freeUid = async (): Promise<number | undefined> => {
    if (!isRoot) return undefined
    const stored = await folders.uids()
    for (;;) {
      const uid = uids.first + randomInt(uids.count)
      if (stored.has(uid) || takenUids.has(uid)) continue
      takenUids.add(uid)
      return uid
    }
  }

  const ready = async () => {
    const found = await able()
    if (!found.tools) throw new AppError('runtime/unavailable', found.detail)
    base ??= readHostBase().then((it) => ({ ...it, content: machineContent(it) }))
    return { tools: found.tools, abilities: found, base: await base }
  }

  /** One at a time for each machine: two would share its files and its limits. */
  const alone = async (id: SandboxId, begin: () => Promise<Machine>): Promise<Machine> => {
    if (active.has(id)) throw new AppError('sandbox/busy', `Sandbox ${id} runs already.`)
    active.add(id)
    try {
      const machine = await begin()
      void machine.ended.then(() => active.delete(id))
      return machine
    } catch (failure) {
      active.delete(id)
      throw failure
    }
  }

  const run = async (
    spec: MachineSpec,
    machine: { folder: MachineFolder; own: readonly BaseEntry[] },
    signal: AbortSignal,
  ): Promise<Machine> => {
    const { tools, abilities: found, base: hostBase } = await ready()
    const { controllers, enforced } = found
    const connection = spec.network === 'none' ? undefined : await connectable()
    if (connection && !connection.tools) throw new AppError('network/unavailable', connection.detail ?? '')
    return startMachine({
      spec,
      networkTools: connection?.tools,
      tools,
      controllers,
      enforced,
      folder: machine.folder,
      entries: [...neededEntries(hostBase), ...machine.own],
      folders,
      base: hostBase,
      now,
      log,
      signal,
    })
  }

  const endLeftover = async (id: SandboxId): Promise<void> => {
    const left = await folders.readRun(id)
    await Promise.all((left?.processes ?? []).map(endProcess))
    const { controllers } = await able()
    const expected = controllers.map(({ parent }) => join(parent, cgroupName(id)))
    await removeCgroups([...new Set([...(left?.cgroups ?? []), ...expected])])
    if (!left) return
    await folders.forgetRun(id)
    log.info('ended what an earlier host left', { sandboxId: id })
  }

  return {
    name,
    async describe(): Promise<RuntimeReport> {
      const [{ tools, detail, enforced }, networks] = await Promise.all([able(), connectable()])
      return {
        name,
        available: tools !== undefined,
        detail,
        enforced: tools ? enforced : nothing,
        networks: networks.networks,
        network_detail: networks.detail,
        image_sources: [],
        image_detail: 'This runtime makes no images.',
      }
    },
    create: (spec, signal, from) =>
      alone(spec.id, async () => {
        if (from) throw new AppError('snapshot/not-found', `There is no snapshot ${from.snapshotId}.`)
        if (spec.image !== null) throw new AppError('image/not-found', `There is no image \`${spec.image}\`.`)
        const { base: hostBase, abilities: found } = await ready()
        const { content } = hostBase
        const template = await found.templates?.find({ content, diskGb: spec.diskGb })
        const made = await folders.make(spec.id, { uid: await freeUid(), content, template })
        try {
          return await run(spec, { folder: made, own: ownFiles(spec.hostname) }, signal)
        } catch (failure) {
          await folders.remove(spec.id)
          throw failure
        }
      }),
    start: (spec, signal) =>
      alone(spec.id, async () => {
        const found = await folders.find(spec.id)
        await endLeftover(spec.id)
        return run(spec, { folder: found, own: [] }, signal)
      }),
    remove: (id) => folders.remove(id),
    stored: folders.list,
    async snapshot() {
      throw new AppError('snapshot/failed', 'This runtime keeps no snapshots.')
    },
    async restore({ snapshotId }) {
      throw new AppError('snapshot/not-found', `There is no snapshot ${snapshotId}.`)
    },
    async removeSnapshot() {},
    images: {
      list: async () => [],
      async add() {
        throw new AppError('image/source', 'This runtime makes no images.')
      },
      async remove() {},
    },
    async sweep() {
      for (const id of await folders.list()) await endLeftover(id)
    },
  }
}
