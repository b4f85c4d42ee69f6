import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../../shared/appError.ts'
import type { MachineSpec } from '../../../../shared/contract/hostIpc.ts'
import type { ImageName } from '../../../../shared/contract/images.ts'
import type { Enforced, RuntimeReport } from '../../../../shared/contract/sandboxes.ts'
import type { SandboxId } from '../../../../shared/ids.ts'
import type { Log } from '../../../platform/log.ts'
import { activeMachines } from '../activeMachines.ts'
import type { SandboxRuntime, SnapshotPlace } from '../sandboxRuntime.ts'
import {
  type BaseEntry,
  type HostBase,
  imageContent,
  machineContent,
  neededEntries,
  neededOfImage,
  ownFiles,
  ownFilesOfImage,
  readHostBase,
} from './baseFiles.ts'
import { cgroupName, removeCgroups } from './cgroups.ts'
import { releaseDevice } from './holdStill.ts'
import { type HostAbilities, probeHost } from './hostAbilities.ts'
import { needSpace, spareBytes } from './hostSpace.ts'
import { freeBlock, type IdBlock, idsOfMachine } from './idBlocks.ts'
import { bubblewrapImages, systemObstacle } from './images/bubblewrapImages.ts'
import { type ImageAbility, probeImages } from './images/imageProbe.ts'
import { imageStore, type StoredImage } from './images/imageStore.ts'
import { loopDevices } from './loopDevices.ts'
import { type MachineFolder, type MakeMachine, machineFolders } from './machineFolder.ts'
import { machineSnapshots } from './machineSnapshots.ts'
import { type NetworkAbilities, probeNetwork } from './network/networkAbilities.ts'
import { prepareMachine } from './preparedMachine.ts'
import { processors, usableProcessors } from './processors.ts'
import { endProcess } from './processTable.ts'
import { type HeldMachine, runMachine } from './runMachine.ts'
import { allLayers, type SandboxLayers } from './sandboxLayers.ts'
import { type Spawner, spawner } from './spawner.ts'
import { doorway } from './startRequest.ts'

export type BubblewrapOptions = {
  /** Machines are stored here, each in a folder named by its id; nobody else may write to it. */
  folder: string
  /** Images are stored here, for nobody else as well; below `folder` when it is not given. */
  imagesFolder?: string
  log: Log
  now: () => number
  /** Processor weight of all machines together, beside 100 of what else has the usual one: 1 to 10000. */
  cpuWeight?: number
  /** No sandbox is made when the disk of the folder has less room. */
  leastFreeBytes?: number
  /** All of them, but for a test that takes one away. */
  layers?: SandboxLayers
}

const name = 'bubblewrap'
/** A quarter of the usual one: Steward answers beside sandboxes that do all they can. */
export const usualCpuWeight = 25
const nothing: Enforced = { memory: false, cpu: false, disk: false, processes: false }

/** Machines of namespaces on the host's own programs, with `bwrap` (https://github.com/containers/bubblewrap). */
export function bubblewrapRuntime(options: BubblewrapOptions): SandboxRuntime {
  const {
    folder,
    log,
    now,
    imagesFolder = join(folder, 'images'),
    leastFreeBytes = spareBytes,
    layers = allLayers,
    cpuWeight = usualCpuWeight,
  } = options
  const store = imageStore(imagesFolder)
  const folders = machineFolders(folder)
  const isRoot = process.getuid?.() === 0
  let abilities: Promise<HostAbilities> | undefined
  let base: Promise<HostBase & { content: readonly BaseEntry[] }> | undefined
  let network: Promise<NetworkAbilities> | undefined
  let ofImages: Promise<ImageAbility> | undefined
  const taken: IdBlock[] = []
  const active = activeMachines<HeldMachine>()
  const copies = new Map<SandboxId, Promise<unknown>>()
  const cpus = processors(usableProcessors(readFileSync('/proc/self/status', 'utf8')))
  let spawning: Spawner | undefined
  const spawnerOf = (perl: string): Spawner => {
    spawning ??= spawner({ perl, folder, log })
    return spawning
  }

  /** What works is not tried again; what does not may have been installed since. */
  const able = async (): Promise<HostAbilities> => {
    abilities ??= probeHost({ folder, cpuWeight, spawnerOf })
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

  const imageAble = async (): Promise<ImageAbility> => {
    const { tools, detail, templates } = await able()
    if (!tools) return { range: undefined, detail }
    ofImages ??= probeImages({ spawner: spawnerOf(tools.perl), folder: imagesFolder, templates })
    const found = await ofImages
    if (!found.range) ofImages = undefined
    return found
  }

  const freeUid = async (image: ImageName | null): Promise<number | undefined> => {
    if (!isRoot) return undefined
    const stored = await folders.ids()
    const block = freeBlock(idsOfMachine(image), [...stored, ...taken])
    taken.push(block)
    return block.first
  }

  /** @throws AppError `image/not-found`, `image/not-ready` */
  const imageNamed = async (wanted: ImageName): Promise<StoredImage> => {
    const image = await store.find(wanted)
    if (image) return image
    if (!(await store.isBeingAdded(wanted))) throw new AppError('image/not-found', `There is no image \`${wanted}\`.`)
    throw new AppError('image/not-ready', `The image \`${wanted}\` is still being added.`)
  }

  const imageOf = async ({ image: wanted }: Pick<MachineFolder, 'image'>) => {
    if (wanted === null) return undefined
    const { root } = await imageNamed(wanted)
    const { range, detail } = await imageAble()
    if (!range) throw new AppError('runtime/unavailable', detail)
    return { root, range }
  }

  const ready = async () => {
    const found = await able()
    if (!found.tools) throw new AppError('runtime/unavailable', found.detail)
    base ??= readHostBase().then((it) => ({ ...it, content: machineContent(it) }))
    return { tools: found.tools, abilities: found, base: await base }
  }

  const snapshots = machineSnapshots(async () => (await ready()).tools)

  const run = async (
    spec: MachineSpec,
    machine: { folder: MachineFolder; own: readonly BaseEntry[] },
    signal: AbortSignal,
  ): Promise<HeldMachine> => {
    const { tools, abilities: found, base: hostBase } = await ready()
    const { controllers, enforced } = found
    const image = await imageOf(machine.folder)
    const connection = spec.network === 'none' ? undefined : await connectable()
    if (connection && !connection.tools) throw new AppError('network/unavailable', connection.detail ?? '')
    const prepared = await prepareMachine({
      size: spec,
      name: cgroupName(spec.id),
      tools,
      spawner: spawnerOf(tools.perl),
      processors: cpus,
      controllers,
      folder: machine.folder,
      entries: [...(image ? neededOfImage : neededEntries(hostBase)), ...machine.own],
      base: image ? undefined : hostBase,
      image,
      layers,
      signal,
    })
    return runMachine(prepared, {
      spec,
      tools,
      enforced,
      folder: machine.folder,
      folders,
      networkTools: connection?.tools,
      now,
      log,
      signal,
    })
  }

  const newFiles = async ({ image, diskGb }: MachineSpec): Promise<MakeMachine['files']> => {
    const content = image === null ? (await ready()).base.content : imageContent
    const template = await (await able()).templates?.find({ content, diskGb })
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return template === undefined ? { kind: 'content', content } : { kind: 'template', path: template }
  }

  const filesOf = async (from: SnapshotPlace, signal: AbortSignal): Promise<MakeMachine['files']> => {
    const snapshot = await snapshots.find(folders.at(from.sandboxId), from.snapshotId)
    return { kind: 'copy', of: snapshot.kind, copy: (to) => snapshots.copy(snapshot, to, signal) }
  }

  /** Removing a machine waits for the end of what copies its files. */
  const onFiles = async <T>(id: SandboxId, work: (machine: MachineFolder) => Promise<T>): Promise<T> => {
    const working = folders.find(id).then(work)
    const settled = working.catch(() => {}) // its own caller is told
    copies.set(id, settled)
    try {
      return await working
    } finally {
      if (copies.get(id) === settled) copies.delete(id)
    }
  }

  /** A snapshot may have held it still when Steward and its helper were killed; then nothing in it could end. */
  const letGo = async (device: string): Promise<void> => {
    const { tools } = await able()
    if (!tools) return
    await releaseDevice(device, { perl: tools.perl, doorway }).catch((failure: unknown) =>
      log.warn('a disk of an earlier host stays', { device, failure }),
    )
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
      const [{ tools, detail, cure, enforced, gaps }, networks] = await Promise.all([able(), connectable()])
      const [images, noSystem] = await Promise.all([imageAble(), systemObstacle()])
      return {
        name,
        available: tools !== undefined,
        detail,
        cure,
        enforced: tools ? enforced : nothing,
        limit_gaps: tools ? [...gaps] : [],
        networks: networks.networks,
        network_detail: networks.detail,
        network_cure: networks.cure,
        image_sources: !images.range ? [] : noSystem === undefined ? ['system', 'archive'] : ['archive'],
        image_detail: images.detail ?? noSystem ?? null,
      }
    },
    create: (spec, signal, from) =>
      active.begin(spec.id, async () => {
        const { image, hostname } = spec
        await imageOf(spec) // told before anything is made
        const files = from ? await filesOf(from, signal) : await newFiles(spec)
        await needSpace(folder, leastFreeBytes)
        const made = await folders.make(spec.id, { uid: await freeUid(image), image, files })
        try {
          const own = image === null ? ownFiles(hostname) : ownFilesOfImage(hostname)
          return await run(spec, { folder: made, own }, signal)
        } catch (failure) {
          await folders.remove(spec.id)
          throw failure
        }
      }),
    start: (spec, signal) =>
      active.begin(spec.id, async () => {
        const found = await folders.find(spec.id)
        await endLeftover(spec.id)
        return run(spec, { folder: found, own: [] }, signal)
      }),
    async remove(id) {
      await copies.get(id)
      await folders.remove(id)
    },
    stored: folders.list,
    snapshot: ({ sandboxId, snapshotId }, signal) =>
      onFiles(sandboxId, (machine) => {
        const holdStill = active.running(sandboxId)?.holdStill
        return snapshots.keep(machine, { id: snapshotId, signal, ...(holdStill && { holdStill }) })
      }),
    restore: ({ sandboxId, snapshotId }, signal) =>
      onFiles(sandboxId, (machine) => {
        active.needNone(sandboxId)
        return snapshots.restore(machine, { id: snapshotId, signal })
      }),
    removeSnapshot: ({ sandboxId, snapshotId }) => snapshots.remove(folders.at(sandboxId), snapshotId),
    images: bubblewrapImages({
      runtime: name,
      store,
      obstacle: async () => (await imageAble()).detail,
      perl: async () => (await ready()).tools.perl,
      now,
    }),
    async sweep() {
      await store.sweep()
      for (const device of await loopDevices(folder)) await letGo(device)
      for (const id of await folders.list()) {
        await endLeftover(id)
        await folders.mend(id)
      }
      await folders.sweep()
    },
    async close() {
      spawning?.close()
    },
  }
}
