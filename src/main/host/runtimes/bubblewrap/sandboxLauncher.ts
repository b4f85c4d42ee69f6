import { readFileSync } from 'node:fs'
import { AppError } from '#shared/appError.ts'
import type { SandboxSpec } from '#shared/contract/hostIpc.ts'
import type { ImageName } from '#shared/contract/images.ts'
import type { Network } from '#shared/contract/sandboxes.ts'
import { type BaseEntry, listRequiredEntries, networkFiles, requiredImageEntries } from './baseFiles.ts'
import type { BubblewrapContext } from './bubblewrapContext.ts'
import { toCgroupName } from './cgroups.ts'
import type { ImageStore, StoredImage } from './images/imageStore.ts'
import { buildNetworkArguments, type ConnectArguments } from './network/connectNetwork.ts'
import { type PreparedSandbox, type PrepareRequest, prepareSandbox, type SandboxSize } from './preparedSandbox.ts'
import { createProcessors, parseUsableProcessors } from './processors.ts'
import { type FreezableSandbox, runSandbox } from './runSandbox.ts'
import type { SandboxFolder, SandboxName } from './sandboxFolder.ts'

export type SandboxLauncher = {
  /**
   * Starts a sandbox with its network and without running any command. Ends it on error.
   * @throws AppError `runtime/unavailable`, `image/not-found`, `image/not-ready`, `egress/unavailable`,
   * `sandbox/start-failed`
   */
  prepare(launch: Launch): Promise<PreparedSandbox>
  /** Turns a prepared sandbox into the requested one. Ends the prepared sandbox on error. */
  run(prepared: PreparedSandbox, spec: SandboxSpec, folder: SandboxFolder): Promise<FreezableSandbox>
}

export type Launch = {
  name: SandboxName
  spec: SandboxSize & Pick<SandboxSpec, 'network'>
  folder: SandboxFolder
  /** Entries added to its `/`, besides those that every sandbox needs to start. */
  ownEntries: readonly BaseEntry[]
  signal: AbortSignal
}

export function createSandboxLauncher(context: BubblewrapContext): SandboxLauncher {
  const { folders, support, users, layers, now, log } = context
  const processors = createProcessors(parseUsableProcessors(readFileSync('/proc/self/status', 'utf8')))
  return {
    async prepare({ name, spec, folder, ownEntries, signal }) {
      const { tools, spawner, abilities, base } = await support.require()
      const image = await findSandboxImage(context, folder.image)
      const user = await users.find(folder)
      const connection = await toConnectArguments(context, spec.network, user?.uid)
      return prepareSandbox({
        size: spec,
        name: toCgroupName(name),
        tools,
        spawner,
        processors,
        controllers: abilities.controllers,
        folder,
        user,
        entries: [
          ...(image ? requiredImageEntries : listRequiredEntries(base)),
          ...ownEntries,
          ...(connection ? networkFiles : []),
        ],
        base: image ? undefined : base,
        image,
        layers,
        connection,
        signal,
      })
    },
    async run(prepared, spec, folder) {
      const { tools, abilities } = await support.require()
      return runSandbox(prepared, { spec, tools, enforced: abilities.enforced, folder, folders, now, log })
    },
  }
}

/**
 * @returns undefined for the programs of the host
 * @throws AppError `image/not-found`, `image/not-ready`, `runtime/unavailable`
 */
export async function findSandboxImage(
  { store, support }: BubblewrapContext,
  name: ImageName | null,
): Promise<PrepareRequest['image']> {
  if (name === null) return undefined
  const { root } = await requireImage(store, name)
  const { range, detail } = await support.probeImages()
  if (!range) throw new AppError('runtime/unavailable', detail)
  return { root, range }
}

/** @throws AppError `image/not-found`, `image/not-ready` */
async function requireImage(store: ImageStore, name: ImageName): Promise<StoredImage> {
  const image = await store.find(name)
  if (image) return image
  if (!(await store.isAdding(name))) throw new AppError('image/not-found', `There is no image \`${name}\`.`)
  throw new AppError('image/not-ready', `The image \`${name}\` is still being added.`)
}

/** @throws AppError `egress/unavailable` */
async function toConnectArguments(
  { users, layers, closedNetworks }: BubblewrapContext,
  network: Network,
  uid: number | undefined,
): Promise<ConnectArguments | undefined> {
  if (network === 'none') return undefined
  const { tools, detail } = await users.networks(uid !== undefined)
  if (!tools) throw new AppError('egress/unavailable', detail ?? '')
  const hasFrameRules = tools.hasFrameRules && layers.has('frame-rules')
  return buildNetworkArguments({ tools: { ...tools, hasFrameRules }, network, uid, closed: closedNetworks })
}
