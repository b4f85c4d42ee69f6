import { join } from 'node:path'
import type { Log } from '#platform/logging/log.ts'
import { networksClosedToSandboxes } from '#platform/net/specialAddresses.ts'
import type { Enforced, RuntimeReport } from '#shared/contract/sandboxes.ts'
import type { SandboxId } from '#shared/ids.ts'
import type { SandboxRuntime } from '../sandboxRuntime.ts'
import type { BubblewrapContext } from './bubblewrapContext.ts'
import { reservedBytes } from './hostSpace.ts'
import { createHostSupport } from './hostSupport.ts'
import { createBubblewrapImages, findSystemObstacle } from './images/bubblewrapImages.ts'
import { createImageStore } from './images/imageStore.ts'
import type { FreezableSandbox } from './runSandbox.ts'
import { createSandboxCreation } from './sandboxCreation.ts'
import { createSandboxFolders, type SandboxFolder, type SandboxFolders } from './sandboxFolder.ts'
import { createSandboxLauncher, findSandboxImage } from './sandboxLauncher.ts'
import { allLayers, type SandboxLayers } from './sandboxLayers.ts'
import { createSandboxSnapshots } from './sandboxSnapshots.ts'
import { createSandboxUsers } from './sandboxUsers.ts'
import { endLeftover, sweepLeftovers } from './sweepLeftovers.ts'

const nothingEnforced: Enforced = { memory: false, cpu: false, disk: false, processes: false }

export type BubblewrapOptions = {
  /**
   * Folder of the sandboxes, each in a subfolder named by its id. Must be writable only by the user that runs Steward.
   */
  folder: string
  /** Folder of the images, with the same permissions. Defaults to a folder below `folder`. */
  imagesFolder?: string
  log: Log
  now: () => number
  /** CPU weight of all sandboxes together: 1 to 10000, where other processes have 100. */
  cpuWeight?: number
  /** Minimum free space on the disk of the folder for creating a sandbox, in bytes. */
  minFreeBytes?: number
  /** Number of warm sandboxes. Defaults to 0. */
  warmPoolSize?: number
  /** Networks that are unreachable with `internet`, such as `10.0.0.0/8`. */
  closedNetworks?: readonly string[]
  /** Defaults to all layers. Tests remove individual layers. */
  layers?: SandboxLayers
}

const name = 'bubblewrap'
/** A quarter of the default weight, so that Steward stays responsive while sandboxes use all CPUs. */
export const defaultCpuWeight = 25

/**
 * Creates a runtime for sandboxes based on Linux namespaces, with `bwrap` and the programs of the host.
 * @see https://github.com/containers/bubblewrap
 */
export function createBubblewrapRuntime(options: BubblewrapOptions): SandboxRuntime<FreezableSandbox> {
  const context = createContext(options)
  const { folders, store, support, users, now } = context
  const copies = createFileCopies(folders)
  const snapshots = createSandboxSnapshots(async () => (await support.require()).tools)
  const launcher = createSandboxLauncher(context)
  const creation = createSandboxCreation({ ...context, launcher, snapshots }, options.warmPoolSize ?? 0)

  return {
    name,
    describe: () => describeBubblewrap(name, context),
    async create(spec, signal, from) {
      await findSandboxImage(context, spec.image) // reports errors before anything is created
      signal.throwIfAborted()
      return creation.create(spec, signal, from)
    },
    async start(spec, signal) {
      const folder = await folders.find(spec.id)
      await endLeftover(context, spec.id)
      const prepared = await launcher.prepare({ name: spec.id, spec, folder, ownEntries: [], signal })
      return launcher.run(prepared, spec, folder)
    },
    async remove(id) {
      await copies.wait(id)
      await folders.remove(id)
      users.giveBack(id)
    },
    listStored: folders.list,
    snapshot: ({ sandboxId, snapshotId }, signal, running) =>
      copies.run(sandboxId, (sandbox) =>
        snapshots.keep(sandbox, { id: snapshotId, signal, ...(running && { holdStill: running.holdStill }) }),
      ),
    restore: ({ sandboxId, snapshotId }, signal) =>
      copies.run(sandboxId, (sandbox) => snapshots.restore(sandbox, { id: snapshotId, signal })),
    listSnapshots: (id) => snapshots.list(folders.getPath(id)),
    removeSnapshot: ({ sandboxId, snapshotId }) => snapshots.remove(folders.getPath(sandboxId), snapshotId),
    images: createBubblewrapImages({
      runtime: name,
      store,
      obstacle: async () => (await support.probeImages()).detail,
      perl: async () => (await support.require()).tools.perl,
      now,
    }),
    sweep: () => sweepLeftovers(context),
    async close() {
      await creation.close()
      users.close()
      support.close()
    },
  }
}

function createContext(options: BubblewrapOptions): BubblewrapContext {
  const {
    folder,
    log,
    now,
    imagesFolder = join(folder, 'images'),
    minFreeBytes = reservedBytes,
    layers = allLayers,
    closedNetworks = networksClosedToSandboxes,
    cpuWeight = defaultCpuWeight,
  } = options
  const folders = createSandboxFolders(folder)
  const support = createHostSupport({ folder, imagesFolder, cpuWeight, log })
  const users = createSandboxUsers({
    folder,
    folders,
    closed: closedNetworks,
    async tools() {
      const { tools, spawner } = await support.require()
      return { perl: tools.perl, spawner }
    },
  })
  const store = createImageStore(imagesFolder)
  return { folder, folders, store, support, users, layers, closedNetworks, minFreeBytes, log, now }
}

/** Copies files to and from sandboxes. Removing a sandbox waits until its copies have ended. */
function createFileCopies(folders: SandboxFolders) {
  const copies = new Map<SandboxId, Promise<unknown>>()
  return {
    wait: async (id: SandboxId): Promise<void> => void (await copies.get(id)),
    async run<T>(id: SandboxId, work: (sandbox: SandboxFolder) => Promise<T>): Promise<T> {
      const working = folders.find(id).then(work)
      const settled = working.catch(() => {}) // the caller of the copy handles the error
      copies.set(id, settled)
      try {
        return await working
      } finally {
        if (copies.get(id) === settled) copies.delete(id)
      }
    },
  }
}

async function describeBubblewrap(
  name: string,
  { support, users }: Pick<BubblewrapContext, 'support' | 'users'>,
): Promise<RuntimeReport> {
  const [{ tools, detail, cure, enforced, gaps }, ofOwn] = await Promise.all([support.probe(), users.networks(true)])
  const networks = ofOwn.tools ? ofOwn : await users.networks(false)
  const shares = tools && (await users.obstacle())
  const [images, noSystem] = await Promise.all([support.probeImages(), findSystemObstacle()])
  return {
    name,
    available: tools !== undefined,
    detail: shares === undefined ? detail : `${detail.replace(/\.$/, '')}. ${shares}`,
    cure,
    enforced: tools ? enforced : nothingEnforced,
    limit_gaps: tools ? [...gaps] : [],
    networks: networks.networks,
    network_detail: networks.detail,
    network_cure: networks.cure,
    image_sources: !images.range ? [] : noSystem === undefined ? ['system', 'archive'] : ['archive'],
    image_detail: images.detail ?? noSystem ?? null,
  }
}
