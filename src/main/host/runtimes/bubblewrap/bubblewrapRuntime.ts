import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '#platform/log.ts'
import { networksClosedToSandboxes } from '#platform/specialAddresses.ts'
import { AppError } from '#shared/appError.ts'
import type { MachineSpec } from '#shared/contract/hostIpc.ts'
import type { ImageName } from '#shared/contract/images.ts'
import type { Enforced, Network, RuntimeReport } from '#shared/contract/sandboxes.ts'
import type { SandboxId } from '#shared/ids.ts'
import { createActiveMachines } from '../activeMachines.ts'
import type { SandboxRuntime, SnapshotRef } from '../sandboxRuntime.ts'
import {
  type BaseEntry,
  type HostBase,
  imageContent,
  listMachineContent,
  listRequiredEntries,
  neededOfImage,
  networkFiles,
  ownFiles,
  ownFilesOfImage,
  readHostBase,
} from './baseFiles.ts'
import { cgroupName, removeCgroups } from './cgroups.ts'
import { releaseDevice } from './holdStill.ts'
import { type HostAbilities, probeHost } from './hostAbilities.ts'
import { assertSpace, reservedBytes } from './hostSpace.ts'
import { createBubblewrapImages, findSystemObstacle } from './images/bubblewrapImages.ts'
import { type ImageAbility, probeImages } from './images/imageProbe.ts'
import { createImageStore, type StoredImage } from './images/imageStore.ts'
import { loopDevices } from './loopDevices.ts'
import {
  createMachineFolders,
  type MachineFolder,
  type MachineName,
  type MakeMachine,
  WarmSandboxName,
} from './machineFolder.ts'
import { createMachineSnapshots } from './machineSnapshots.ts'
import { buildNetworkArguments, type ConnectArguments } from './network/connectNetwork.ts'
import { type MachineSize, type PreparedMachine, prepareMachine } from './preparedMachine.ts'
import { createProcessors, parseUsableProcessors } from './processors.ts'
import { endProcess } from './processTable.ts'
import { endPrepared, type FreezableMachine, recordRun, runMachine } from './runMachine.ts'
import { allLayers, type SandboxLayers } from './sandboxLayers.ts'
import { createSandboxUsers } from './sandboxUsers.ts'
import { createSpawner, removeStaleSockets, type Spawner } from './spawner.ts'
import { doorway } from './startRequest.ts'
import { createWarmPool, type WarmSandbox } from './warmPool.ts'

export type BubblewrapOptions = {
  /** Folder of the machines, each in a subfolder named by its id; only Steward's user may write to it. */
  folder: string
  /** Folder of the images, with the same permissions. Default: below `folder`. */
  imagesFolder?: string
  log: Log
  now: () => number
  /** Processor weight of all machines together, beside 100 of what else has the usual one: 1 to 10000. */
  cpuWeight?: number
  /** No sandbox is made when the disk of the folder has less room. */
  minFreeBytes?: number
  /** Number of warm sandboxes. Default: none. */
  warmPoolSize?: number
  /** Networks that `internet` does not reach, such as `10.0.0.0/8`. */
  closedNetworks?: readonly string[]
  /** All of them, but for a test that takes one away. */
  layers?: SandboxLayers
}

const name = 'bubblewrap'
/** A quarter of the usual one: Steward answers beside sandboxes that do all they can. */
export const defaultCpuWeight = 25
/** Size of a warm sandbox. */
const warmSandboxSize = { hostname: 'spare', memoryMb: 512, vcpu: 1 }

type WarmMachine = WarmSandbox & { name: WarmSandboxName; prepared: PreparedMachine }
type Preparation = {
  name: MachineName
  spec: MachineSize & Pick<MachineSpec, 'network'>
  folder: MachineFolder
  /** Put into its `/`, beside what every machine needs to start. */
  ownEntries: readonly BaseEntry[]
  signal: AbortSignal
}

const nothing: Enforced = { memory: false, cpu: false, disk: false, processes: false }

/** Machines of namespaces on the host's own programs, with `bwrap` (https://github.com/containers/bubblewrap). */
export function createBubblewrapRuntime(options: BubblewrapOptions): SandboxRuntime {
  const {
    folder,
    log,
    now,
    imagesFolder = join(folder, 'images'),
    minFreeBytes = reservedBytes,
    layers = allLayers,
    closedNetworks: closed = networksClosedToSandboxes,
    cpuWeight = defaultCpuWeight,
  } = options
  const store = createImageStore(imagesFolder)
  const folders = createMachineFolders(folder)
  let abilities: Promise<HostAbilities> | undefined
  let base: Promise<HostBase & { content: readonly BaseEntry[] }> | undefined
  let ofImages: Promise<ImageAbility> | undefined
  const active = createActiveMachines<FreezableMachine>()
  const copies = new Map<SandboxId, Promise<unknown>>()
  const cpus = createProcessors(parseUsableProcessors(readFileSync('/proc/self/status', 'utf8')))
  let spawning: Spawner | undefined
  const getSpawner = (perl: string): Spawner => {
    spawning ??= createSpawner({ perl, folder, log })
    return spawning
  }

  /** Probes again only what did not work: it may have been installed since. */
  const able = async (): Promise<HostAbilities> => {
    abilities ??= probeHost({ folder, cpuWeight, createSpawner: getSpawner })
    const report = await abilities
    if (!report.tools) abilities = undefined
    return report
  }

  const imageAble = async (): Promise<ImageAbility> => {
    const { tools, detail, templates } = await able()
    if (!tools) return { range: undefined, detail }
    ofImages ??= probeImages({ spawner: getSpawner(tools.perl), folder: imagesFolder, templates })
    const images = await ofImages
    if (!images.range) ofImages = undefined
    return images
  }

  /** @throws AppError `image/not-found`, `image/not-ready` */
  const imageNamed = async (imageName: ImageName): Promise<StoredImage> => {
    const image = await store.find(imageName)
    if (image) return image
    if (!(await store.isBeingAdded(imageName)))
      throw new AppError('image/not-found', `There is no image \`${imageName}\`.`)
    throw new AppError('image/not-ready', `The image \`${imageName}\` is still being added.`)
  }

  const getImage = async ({ image }: Pick<MachineFolder, 'image'>) => {
    if (image === null) return undefined
    const { root } = await imageNamed(image)
    const { range, detail } = await imageAble()
    if (!range) throw new AppError('runtime/unavailable', detail)
    return { root, range }
  }

  const ready = async () => {
    const abilities = await able()
    if (!abilities.tools) throw new AppError('runtime/unavailable', abilities.detail)
    base ??= readHostBase().then((it) => ({ ...it, content: listMachineContent(it) }))
    return { tools: abilities.tools, abilities, base: await base }
  }

  const users = createSandboxUsers({
    folder,
    folders,
    closed,
    async tools() {
      const { perl } = (await ready()).tools
      return { perl, spawner: getSpawner(perl) }
    },
  })

  const snapshots = createMachineSnapshots(async () => (await ready()).tools)

  /** Starts it, with the network that it is to have. */
  const prepare = async ({ name: machineName, spec, folder: files, ownEntries, signal }: Preparation) => {
    const { tools, abilities, base: hostBase } = await ready()
    const image = await getImage(files)
    const user = await users.find(files)
    const connection = await connectionFor(spec.network, user?.uid)
    return prepareMachine({
      size: spec,
      name: cgroupName(machineName),
      tools,
      spawner: getSpawner(tools.perl),
      processors: cpus,
      controllers: abilities.controllers,
      folder: files,
      user,
      entries: [
        ...(image ? neededOfImage : listRequiredEntries(hostBase)),
        ...ownEntries,
        ...(connection ? networkFiles : []),
      ],
      base: image ? undefined : hostBase,
      image,
      layers,
      connection,
      signal,
    })
  }

  /** @throws AppError `egress/unavailable` */
  const connectionFor = async (network: Network, uid: number | undefined): Promise<ConnectArguments | undefined> => {
    if (network === 'none') return undefined
    const { tools, detail } = await users.networks(uid !== undefined)
    if (!tools) throw new AppError('egress/unavailable', detail ?? '')
    const hasFrameRules = tools.hasFrameRules && layers.has('frame-rules')
    return buildNetworkArguments({ tools: { ...tools, hasFrameRules }, network, uid, closed })
  }

  const run = async (prepared: PreparedMachine, spec: MachineSpec, files: MachineFolder): Promise<FreezableMachine> => {
    const { tools, abilities } = await ready()
    return runMachine(prepared, { spec, tools, enforced: abilities.enforced, folder: files, folders, now, log })
  }

  const warmPool = createWarmPool({
    max: options.warmPoolSize ?? 0,
    log,
    async make(kind, signal): Promise<WarmMachine> {
      const warmName = WarmSandboxName.parse(`spare-${randomBytes(8).toString('hex')}`)
      const spec = { ...warmSandboxSize, ...kind }
      const remove = async () => {
        await folders.remove(warmName)
        users.giveBack(warmName)
      }
      try {
        const files = await newFiles({ image: null, diskGb: kind.diskGb }) // it makes the folder, if nothing has yet
        await assertSpace(folder, minFreeBytes)
        const uid = await users.choose({ name: warmName, image: null, network: kind.network })
        const warmFolder = await folders.make(warmName, { uid, image: null, files })
        const prepared = await prepare({
          name: warmName,
          spec,
          folder: warmFolder,
          ownEntries: ownFiles(spec.hostname),
          signal,
        })
        await recordRun(prepared, { name: warmName, folders })
        const discard = () => endPrepared(prepared).finally(remove)
        return { name: warmName, prepared, ended: prepared.warden.ended, discard }
      } catch (error) {
        await remove()
        throw error
      }
    },
  })

  /** @returns undefined when there is none, or it could not be used */
  const takeWarmSandbox = async (spec: MachineSpec): Promise<FreezableMachine | undefined> => {
    const warm = spec.image === null ? warmPool.take(spec) : undefined
    if (!warm) return undefined
    try {
      const files = await folders.adopt(warm.name, spec.id)
      users.pass(warm.name, spec.id)
      await warm.prepared.become(spec, ownFiles(spec.hostname))
      return await run(warm.prepared, spec, files)
    } catch (error) {
      log.warn('a warm sandbox could not be used', { sandboxId: spec.id, error })
      await warm.discard()
      await folders.remove(spec.id)
      users.giveBack(spec.id)
      return undefined
    }
  }

  const createFresh = async (spec: MachineSpec, signal: AbortSignal, from?: SnapshotRef): Promise<FreezableMachine> => {
    const { id, image, hostname } = spec
    const files = from ? await getSource(from, signal) : await newFiles(spec)
    await assertSpace(folder, minFreeBytes)
    if (existsSync(folders.getPath(id))) throw new Error(`There are files of a sandbox ${id} already.`)
    try {
      const uid = await users.choose({ name: id, image, network: spec.network })
      const folder = await folders.make(id, { uid, image, files })
      const entries = image === null ? ownFiles(hostname) : ownFilesOfImage(hostname)
      const prepared = await prepare({ name: id, spec, folder, ownEntries: entries, signal })
      return await run(prepared, spec, folder)
    } catch (error) {
      await folders.remove(id)
      users.giveBack(id)
      throw error
    }
  }

  const newFiles = async ({ image, diskGb }: Pick<MachineSpec, 'image' | 'diskGb'>): Promise<MakeMachine['files']> => {
    const content = image === null ? (await ready()).base.content : imageContent
    const template = await (await able()).templates?.find({ content, diskGb })
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return template === undefined ? { kind: 'content', content } : { kind: 'template', path: template }
  }

  const getSource = async (from: SnapshotRef, signal: AbortSignal): Promise<MakeMachine['files']> => {
    const snapshot = await snapshots.find(folders.getPath(from.sandboxId), from.snapshotId)
    return { kind: 'copy', source: snapshot.kind, copy: (to) => snapshots.copy(snapshot, to, signal) }
  }

  /** Removing a machine waits for the end of what copies its files. */
  const onFiles = async <T>(id: SandboxId, work: (machine: MachineFolder) => Promise<T>): Promise<T> => {
    const working = folders.find(id).then(work)
    const settled = working.catch(() => {}) // its own caller handles the error
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
    await releaseDevice(device, { perl: tools.perl, doorway }).catch((error: unknown) =>
      log.warn('a disk of an earlier host stays', { device, error }),
    )
  }

  const endLeftover = async (id: MachineName): Promise<void> => {
    const run = await folders.readRun(id)
    await Promise.all((run?.processes ?? []).map(endProcess))
    const { controllers } = await able()
    const expected = controllers.map(({ parent }) => join(parent, cgroupName(id)))
    await removeCgroups([...new Set([...(run?.cgroups ?? []), ...expected])])
    if (!run) return
    await folders.forgetRun(id)
    log.info('ended what an earlier host left', { sandboxId: id })
  }

  return {
    name,
    async describe(): Promise<RuntimeReport> {
      const [{ tools, detail, cure, enforced, gaps }, ofOwn] = await Promise.all([able(), users.networks(true)])
      const networks = ofOwn.tools ? ofOwn : await users.networks(false)
      const shares = tools && (await users.obstacle())
      const [images, noSystem] = await Promise.all([imageAble(), findSystemObstacle()])
      return {
        name,
        available: tools !== undefined,
        detail: shares === undefined ? detail : `${detail.replace(/\.$/, '')}. ${shares}`,
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
        await getImage(spec) // reports errors before anything is created
        signal.throwIfAborted()
        return (from ? undefined : await takeWarmSandbox(spec)) ?? createFresh(spec, signal, from)
      }),
    start: (spec, signal) =>
      active.begin(spec.id, async () => {
        const folder = await folders.find(spec.id)
        await endLeftover(spec.id)
        const prepared = await prepare({ name: spec.id, spec, folder, ownEntries: [], signal })
        return run(prepared, spec, folder)
      }),
    async remove(id) {
      await copies.get(id)
      await folders.remove(id)
      users.giveBack(id)
    },
    listStored: folders.list,
    snapshot: ({ sandboxId, snapshotId }, signal) =>
      onFiles(sandboxId, (machine) => {
        const holdStill = active.running(sandboxId)?.holdStill
        return snapshots.keep(machine, { id: snapshotId, signal, ...(holdStill && { holdStill }) })
      }),
    restore: ({ sandboxId, snapshotId }, signal) =>
      onFiles(sandboxId, (machine) => {
        active.assertInactive(sandboxId)
        return snapshots.restore(machine, { id: snapshotId, signal })
      }),
    listSnapshots: (id) => snapshots.list(folders.getPath(id)),
    removeSnapshot: ({ sandboxId, snapshotId }) => snapshots.remove(folders.getPath(sandboxId), snapshotId),
    images: createBubblewrapImages({
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
      for (const warm of await folders.listWarmSandboxes()) {
        await endLeftover(warm)
        await folders.remove(warm)
      }
      await folders.sweep()
      await removeStaleSockets(folder)
    },
    async close() {
      await warmPool.close()
      users.close()
      spawning?.close()
    },
  }
}
