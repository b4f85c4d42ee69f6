import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import type { SandboxSpec } from '#shared/contract/hostIpc.ts'
import type { SnapshotRef } from '../sandboxRuntime.ts'
import { imageContent, listImageFiles, listOwnFiles } from './baseFiles.ts'
import type { BubblewrapContext } from './bubblewrapContext.ts'
import { assertSpace } from './hostSpace.ts'
import type { PreparedSandbox } from './preparedSandbox.ts'
import { endPrepared, type FreezableSandbox, recordRun } from './runSandbox.ts'
import { type MakeSandbox, WarmSandboxName } from './sandboxFolder.ts'
import type { SandboxLauncher } from './sandboxLauncher.ts'
import type { SandboxSnapshots } from './sandboxSnapshots.ts'
import { createWarmPool, type WarmPool, type WarmSandbox, type WarmSandboxKind } from './warmPool.ts'

/** Creates sandboxes, from the warm pool if a warm sandbox matches. */
export type SandboxCreation = {
  /** Creates the files of a new sandbox, from its image or from the snapshot `from`, and starts it. */
  create(spec: SandboxSpec, signal: AbortSignal, from?: SnapshotRef): Promise<FreezableSandbox>
  /** Ends the warm sandboxes. */
  close(): Promise<void>
}

type CreationContext = BubblewrapContext & { launcher: SandboxLauncher; snapshots: SandboxSnapshots }

type WarmSandboxInstance = WarmSandbox & { name: WarmSandboxName; prepared: PreparedSandbox }

const warmSandboxSize = { hostname: 'spare', memoryMb: 512, vcpu: 1 }

export function createSandboxCreation(context: CreationContext, warmPoolSize: number): SandboxCreation {
  const warmPool = createWarmPool({
    max: warmPoolSize,
    log: context.log,
    make: (kind, signal) => createWarmSandbox(context, kind, signal),
  })
  return {
    create: async (spec, signal, from) =>
      (from ? undefined : await assignWarmSandbox(context, warmPool, spec)) ??
      createFresh(context, { spec, from, signal }),
    close: warmPool.close,
  }
}

async function createWarmSandbox(
  context: CreationContext,
  kind: WarmSandboxKind,
  signal: AbortSignal,
): Promise<WarmSandboxInstance> {
  const { folder, folders, users, launcher } = context
  const name = WarmSandboxName.parse(`spare-${randomBytes(8).toString('hex')}`)
  const spec = { ...warmSandboxSize, ...kind }
  const remove = async () => {
    await folders.remove(name)
    users.giveBack(name)
  }
  try {
    // creates the folder if it does not exist
    const files = await selectNewFiles(context, { image: null, diskGb: kind.diskGb })
    await assertSpace(folder, context.minFreeBytes)
    const uid = await users.choose({ name, image: null, network: kind.network })
    const warmFolder = await folders.make(name, { uid, image: null, files })
    const prepared = await launcher.prepare({
      name,
      spec,
      folder: warmFolder,
      ownEntries: listOwnFiles(spec.hostname),
      signal,
    })
    await recordRun(prepared, { name, folders })
    const discard = () => endPrepared(prepared).finally(remove)
    return { name, prepared, ended: prepared.supervisor.ended, discard }
  } catch (error) {
    await remove()
    throw error
  }
}

/** @returns undefined if no warm sandbox matches or it could not be used */
async function assignWarmSandbox(
  { folders, users, launcher, log }: CreationContext,
  warmPool: WarmPool<WarmSandboxInstance>,
  spec: SandboxSpec,
): Promise<FreezableSandbox | undefined> {
  const warm = spec.image === null ? warmPool.take(spec) : undefined
  if (!warm) return undefined
  try {
    const files = await folders.adopt(warm.name, spec.id)
    users.pass(warm.name, spec.id)
    await warm.prepared.become(spec, listOwnFiles(spec.hostname))
    return await launcher.run(warm.prepared, spec, files)
  } catch (error) {
    log.warn('failed to use a warm sandbox', { sandboxId: spec.id, error })
    await warm.discard()
    await folders.remove(spec.id)
    users.giveBack(spec.id)
    return undefined
  }
}

async function createFresh(
  context: CreationContext,
  { spec, from, signal }: { spec: SandboxSpec; from: SnapshotRef | undefined; signal: AbortSignal },
): Promise<FreezableSandbox> {
  const { folders, users, launcher } = context
  const { id, image, hostname } = spec
  const files = from ? await findSnapshotFiles(context, from, signal) : await selectNewFiles(context, spec)
  await assertSpace(context.folder, context.minFreeBytes)
  if (existsSync(folders.getPath(id))) throw new Error(`Files of a sandbox ${id} already exist.`)
  try {
    const uid = await users.choose({ name: id, image, network: spec.network })
    const folder = await folders.make(id, { uid, image, files })
    const ownEntries = image === null ? listOwnFiles(hostname) : listImageFiles(hostname)
    const prepared = await launcher.prepare({ name: id, spec, folder, ownEntries, signal })
    return await launcher.run(prepared, spec, folder)
  } catch (error) {
    await folders.remove(id)
    users.giveBack(id)
    throw error
  }
}

async function selectNewFiles(
  { folder, support }: CreationContext,
  { image, diskGb }: Pick<SandboxSpec, 'image' | 'diskGb'>,
): Promise<MakeSandbox['files']> {
  const content = image === null ? (await support.require()).base.content : imageContent
  const template = await (await support.probe()).templates?.find({ content, diskGb })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return template === undefined ? { kind: 'content', content } : { kind: 'template', path: template }
}

async function findSnapshotFiles(
  { folders, snapshots }: CreationContext,
  { sandboxId, snapshotId }: SnapshotRef,
  signal: AbortSignal,
): Promise<MakeSandbox['files']> {
  const snapshot = await snapshots.find(folders.getPath(sandboxId), snapshotId)
  return { kind: 'copy', source: snapshot.kind, copy: (to) => snapshots.copy(snapshot, to, signal) }
}
