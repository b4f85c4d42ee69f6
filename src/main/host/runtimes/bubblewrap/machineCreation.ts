import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import type { MachineSpec } from '#shared/contract/hostIpc.ts'
import type { SnapshotRef } from '../sandboxRuntime.ts'
import { imageContent, listImageFiles, listOwnFiles } from './baseFiles.ts'
import type { BubblewrapContext } from './bubblewrapContext.ts'
import { assertSpace } from './hostSpace.ts'
import { type MakeMachine, WarmSandboxName } from './machineFolder.ts'
import type { MachineLauncher } from './machineLauncher.ts'
import type { MachineSnapshots } from './machineSnapshots.ts'
import type { PreparedMachine } from './preparedMachine.ts'
import { endPrepared, type FreezableMachine, recordRun } from './runMachine.ts'
import { createWarmPool, type WarmPool, type WarmSandbox, type WarmSandboxKind } from './warmPool.ts'

/** Creates machines, from the warm pool where one fits. */
export type MachineCreation = {
  /** Makes the files of a new machine, of its image or of the snapshot `from`, and starts it. */
  create(spec: MachineSpec, signal: AbortSignal, from?: SnapshotRef): Promise<FreezableMachine>
  /** Ends the warm sandboxes. */
  close(): Promise<void>
}

type CreationContext = BubblewrapContext & { launcher: MachineLauncher; snapshots: MachineSnapshots }

type WarmMachine = WarmSandbox & { name: WarmSandboxName; prepared: PreparedMachine }

/** Size of a warm sandbox. */
const warmSandboxSize = { hostname: 'spare', memoryMb: 512, vcpu: 1 }

/** @param warmPoolSize number of warm sandboxes; 0 for none */
export function createMachineCreation(context: CreationContext, warmPoolSize: number): MachineCreation {
  const warmPool = createWarmPool({
    max: warmPoolSize,
    log: context.log,
    make: (kind, signal) => createWarmMachine(context, kind, signal),
  })
  return {
    create: async (spec, signal, from) =>
      (from ? undefined : await assignWarmMachine(context, warmPool, spec)) ??
      createFresh(context, { spec, from, signal }),
    close: warmPool.close,
  }
}

async function createWarmMachine(
  context: CreationContext,
  kind: WarmSandboxKind,
  signal: AbortSignal,
): Promise<WarmMachine> {
  const { folder, folders, users, launcher } = context
  const name = WarmSandboxName.parse(`spare-${randomBytes(8).toString('hex')}`)
  const spec = { ...warmSandboxSize, ...kind }
  const remove = async () => {
    await folders.remove(name)
    users.giveBack(name)
  }
  try {
    const files = await selectNewFiles(context, { image: null, diskGb: kind.diskGb }) // it makes the folder, if nothing has yet
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
    return { name, prepared, ended: prepared.warden.ended, discard }
  } catch (error) {
    await remove()
    throw error
  }
}

/** @returns undefined when there is none, or it could not be used */
async function assignWarmMachine(
  { folders, users, launcher, log }: CreationContext,
  warmPool: WarmPool<WarmMachine>,
  spec: MachineSpec,
): Promise<FreezableMachine | undefined> {
  const warm = spec.image === null ? warmPool.take(spec) : undefined
  if (!warm) return undefined
  try {
    const files = await folders.adopt(warm.name, spec.id)
    users.pass(warm.name, spec.id)
    await warm.prepared.become(spec, listOwnFiles(spec.hostname))
    return await launcher.run(warm.prepared, spec, files)
  } catch (error) {
    log.warn('a warm sandbox could not be used', { sandboxId: spec.id, error })
    await warm.discard()
    await folders.remove(spec.id)
    users.giveBack(spec.id)
    return undefined
  }
}

async function createFresh(
  context: CreationContext,
  { spec, from, signal }: { spec: MachineSpec; from: SnapshotRef | undefined; signal: AbortSignal },
): Promise<FreezableMachine> {
  const { folders, users, launcher } = context
  const { id, image, hostname } = spec
  const files = from ? await findSnapshotFiles(context, from, signal) : await selectNewFiles(context, spec)
  await assertSpace(context.folder, context.minFreeBytes)
  if (existsSync(folders.getPath(id))) throw new Error(`There are files of a sandbox ${id} already.`)
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
  { image, diskGb }: Pick<MachineSpec, 'image' | 'diskGb'>,
): Promise<MakeMachine['files']> {
  const content = image === null ? (await support.require()).base.content : imageContent
  const template = await (await support.probe()).templates?.find({ content, diskGb })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return template === undefined ? { kind: 'content', content } : { kind: 'template', path: template }
}

async function findSnapshotFiles(
  { folders, snapshots }: CreationContext,
  { sandboxId, snapshotId }: SnapshotRef,
  signal: AbortSignal,
): Promise<MakeMachine['files']> {
  const snapshot = await snapshots.find(folders.getPath(sandboxId), snapshotId)
  return { kind: 'copy', source: snapshot.kind, copy: (to) => snapshots.copy(snapshot, to, signal) }
}
