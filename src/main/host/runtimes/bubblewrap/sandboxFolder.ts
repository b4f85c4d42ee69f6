import { execFile } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  lchownSync,
  mkdirSync,
  openSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { chown, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { AppError } from '#shared/appError.ts'
import { ImageName } from '#shared/contract/images.ts'
import { SandboxId } from '#shared/ids.ts'
import type { BaseEntry } from './baseFiles.ts'
import { countIds, type IdBlock } from './idBlocks.ts'
import { assertRange, isInRange, removeInRange } from './images/inRange.ts'
import { shiftOwners } from './images/shiftOwners.ts'

/** Files of one sandbox, and metadata stored with them. */
export type SandboxFolder = {
  path: string
  storage: SandboxStorage
  /**
   * Host uid of the sandbox's root. If Steward runs as root, a uid that nothing else uses, otherwise a subordinate id
   * of the user that runs Steward. Undefined if that user itself is root in the sandbox.
   */
  uid: number | undefined
  /** Image from which the sandbox was created, or null for the programs of the host. */
  image: ImageName | null
}

/**
 * Location of a sandbox's content: `root` is its `/`, `usr-local` its `/usr/local`. With an image, `upper` holds the
 * changes to the image.
 */
export type SandboxStorage =
  /** Folder that belongs to the sandbox's uid. */
  | { kind: 'folder'; path: string }
  /**
   * File with an ext4 file system of the sandbox's disk size, in which the sandbox's root is uid 0. `template` is
   * copied to `path` first.
   */
  | { kind: 'image'; path: string; template?: string }

export type MakeSandbox = {
  uid: number | undefined
  image: ImageName | null
  files: /** Complete content except files that differ between sandboxes. */
    | { kind: 'content'; content: readonly BaseEntry[] }
    /** Template of a dedicated disk, which is copied. */
    | { kind: 'template'; path: string }
    | { kind: 'copy'; source: SandboxStorage['kind']; copy: (to: string) => Promise<void> }
}

export type Owner = { uid: number; gid: number }

const Mark = z.object({ pid: z.int(), startedTicks: z.number() })
const RunRecord = z.object({ processes: z.array(Mark), cgroups: z.array(z.string()) })
/** Record of a run on the host. Allows another process to end the sandbox. */
export type RunRecord = z.infer<typeof RunRecord>

const SandboxFile = z.union([
  z.object({ version: z.literal(1), uid: z.int().nullable() }).transform((it) => ({ ...it, image: null })),
  z.object({ version: z.literal(2), uid: z.int().nullable(), image: ImageName.nullable() }),
])

export type SandboxFolders = {
  /**
   * Creates the folder with its content, owned by the sandbox's root. Removes it again on error. Never modifies
   * existing files.
   */
  make(name: SandboxName, options: MakeSandbox): Promise<SandboxFolder>
  /** @throws AppError `sandbox/not-found` */
  find(id: SandboxId): Promise<SandboxFolder>
  list(): Promise<SandboxId[]>
  /** @throws AppError `runtime/unavailable` if the files belong to ids that Steward's user no longer has */
  remove(name: SandboxName): Promise<void>
  /** Renames the folder of a warm sandbox to that of a sandbox. @throws Error if the target exists */
  adopt(name: WarmSandboxName, id: SandboxId): Promise<SandboxFolder>
  /** Lists warm sandboxes that a previous host process did not remove. */
  listWarmSandboxes(): Promise<WarmSandboxName[]>
  /** Completes interrupted changes of a stopped sandbox, and removes partial files. */
  mend(id: SandboxId): Promise<void>
  getPath(name: SandboxName): string
  /** Removes shared files of previous host processes. */
  sweep(): Promise<void>
  /** Returns the host uids of all stored sandboxes. */
  ids(): Promise<[SandboxName, IdBlock][]>
  saveRun(name: SandboxName, run: RunRecord): Promise<void>
  readRun(name: SandboxName): Promise<RunRecord | undefined>
  forgetRun(name: SandboxName): Promise<void>
}

export const WarmSandboxName = z
  .string()
  .regex(/^spare-[0-9a-f]{16}$/)
  .brand('SpareName')
export type WarmSandboxName = z.infer<typeof WarmSandboxName>
export type SandboxName = SandboxId | WarmSandboxName

/** @param base folder of all sandboxes, accessible only to the user that runs Steward */
export function createSandboxFolders(base: string): SandboxFolders {
  const getPath = (name: SandboxName): string => join(base, name)
  const runFile = (name: SandboxName): string => join(getPath(name), 'run.json')

  const list = async (): Promise<SandboxId[]> => {
    const names = await readdir(base).catch(() => [])
    return names.flatMap((name) => SandboxId.safeParse(name).data ?? [])
  }
  const read = async (id: SandboxId): Promise<SandboxFolder | undefined> => {
    const text = await readFile(join(getPath(id), 'machine.json'), 'utf8').catch(() => undefined)
    const file = text === undefined ? undefined : SandboxFile.safeParse(parseJsonOrUndefined(text)).data
    const storage = file && findStorage(getPath(id))
    return file && storage && { path: getPath(id), storage, uid: file.uid ?? undefined, image: file.image }
  }

  return {
    async make(name, options) {
      const { uid, image } = options
      const path = getPath(name)
      await mkdir(base, { recursive: true, mode: 0o700 })
      await mkdir(path)
      try {
        chmodSync(path, 0o755) // independent of the umask: only the sandbox's uid can reach this path below `base`
        const note = JSON.stringify({ version: 2, uid: uid ?? null, image })
        writeFileSync(join(path, 'machine.json'), note, { mode: 0o600 })
        return { path, uid, image, storage: await fill(path, options) }
      } catch (error) {
        await removeTree(path)
        throw error
      }
    },
    async find(id) {
      const folder = await read(id)
      if (!folder) throw new AppError('sandbox/not-found', `This computer has no files of sandbox ${id}.`)
      return folder
    },
    async adopt(name, id) {
      if (existsSync(getPath(id))) throw new Error(`${getPath(id)} already exists.`)
      await rename(getPath(name), getPath(id))
      const folder = await read(id)
      if (!folder) throw new Error(`${getPath(id)} is not a sandbox.`)
      return folder
    },
    async listWarmSandboxes() {
      const names = await readdir(base).catch(() => [])
      return names.flatMap((name) => WarmSandboxName.safeParse(name).data ?? [])
    },
    list,
    async remove(name) {
      const storage = findStorage(getPath(name))
      // Removed in this process, because disk images are only a few files.
      if (storage?.kind === 'image') await rm(getPath(name), { recursive: true, force: true })
      else if (storage && isInRange(storage.path)) {
        await assertRange(storage.path)
        await removeInRange(getPath(name))
      } else await removeTree(getPath(name))
    },
    mend: (id) => repairFolder(getPath(id)),
    getPath,
    async sweep() {
      const names = await readdir(base).catch(() => [])
      for (const name of names) if (/^(templates$|probe-)/.test(name)) await removeTree(join(base, name))
    },
    async ids() {
      const entries = await Promise.all((await list()).map(async (id) => [id, await read(id)] as const))
      return entries.flatMap(([id, folder]): [SandboxName, IdBlock][] => {
        if (folder?.uid === undefined) return []
        return [[id, { first: folder.uid, count: countIds(folder.image) }]]
      })
    },
    saveRun: (name, run) => writeFile(runFile(name), JSON.stringify(run), { mode: 0o600 }),
    async readRun(name) {
      const text = await readFile(runFile(name), 'utf8').catch(() => undefined)
      return text === undefined ? undefined : RunRecord.safeParse(parseJsonOrUndefined(text)).data
    },
    forgetRun: (name) => rm(runFile(name), { force: true }),
  }
}

export const diskName = 'disk.ext4'
export const filesName = 'files'

/** Sandboxes created by the first version store their content beside the metadata until they are repaired. */
function findStorage(path: string): SandboxStorage | undefined {
  if (existsSync(join(path, diskName))) return { kind: 'image', path: join(path, diskName) }
  const folder = [join(path, filesName), path].find((value) => existsSync(join(value, 'root')))
  return folder === undefined ? undefined : { kind: 'folder', path: folder }
}

async function fill(path: string, { uid, image, files }: MakeSandbox): Promise<SandboxStorage> {
  const disk = join(path, diskName)
  const folder = join(path, filesName)
  if (files.kind === 'template') return { kind: 'image', path: disk, template: files.path }
  if (files.kind === 'content') makeTree(folder, toFirstOwner(uid), files.content)
  else if (files.source === 'image') {
    await files.copy(disk)
    return { kind: 'image', path: disk }
  } else {
    await files.copy(folder)
    const own = process.getuid?.() ?? 0
    if (uid !== undefined || isInRange(folder)) await shiftOwners(folder, { uid: uid ?? own, count: countIds(image) })
  }
  return { kind: 'folder', path: folder }
}

/** An ordinary user cannot change file owners. `launch` in `start.pl` does it in the user namespace of sandboxes. */
function toFirstOwner(uid: number | undefined): Owner | undefined {
  if (uid === undefined || process.getuid?.() === 0) return uid === undefined ? undefined : { uid, gid: uid }
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
}

/** Suffix of incomplete copies. */
export const partSuffix = '.part'
/** Suffixes of complete new files before they replace the current files, and of the replaced files. */
export const newSuffix = '.new'
export const oldSuffix = '.old'

async function repairFolder(path: string): Promise<void> {
  const folder = join(path, filesName)
  const moving = `${folder}.moving`
  const names = await readdir(path)
  const first = names.includes('root') ? ['root', 'usr-local'].filter((name) => names.includes(name)) : []
  if (first.length > 0) {
    await mkdir(moving, { recursive: true, mode: 0o755 })
    const { uid, gid } = await stat(join(path, 'root'))
    await chown(moving, uid, gid)
    // Moves `root` last: while it exists here, an interrupted move is repeated.
    for (const name of first.toReversed()) await rename(join(path, name), join(moving, name))
  }
  if (existsSync(moving)) await rename(moving, folder)
  if (!existsSync(folder) && existsSync(`${folder}${newSuffix}`)) await rename(`${folder}${newSuffix}`, folder)
  const snapshots = join(path, 'snapshots')
  const halves = [path, snapshots].map(async (each) => {
    const names = await readdir(each).catch(() => [])
    const useless = names.filter((name) => [partSuffix, newSuffix, oldSuffix].some((suffix) => name.endsWith(suffix)))
    for (const name of useless) await removeTree(join(each, name))
  })
  await Promise.all(halves)
}

/** Creates a tree synchronously, because these few dozen calls take less time than dispatching each to a thread. */
export function makeTree(path: string, owner: Owner | undefined, entries: readonly BaseEntry[]): void {
  make(path, { kind: 'folder', path: '/', mode: 0o755 }, owner)
  for (const entry of entries) make(join(path, entry.path), entry, owner)
}

function make(path: string, entry: BaseEntry, owner: Owner | undefined): void {
  if (entry.kind === 'folder') {
    mkdirSync(path)
    chmodSync(path, entry.mode)
    if (owner) lchownSync(path, owner.uid, owner.gid)
  } else if (entry.kind === 'link') {
    symlinkSync(entry.target, path)
    if (owner) lchownSync(path, owner.uid, owner.gid)
  } else {
    const file = openSync(path, 'wx')
    try {
      writeFileSync(file, entry.content)
      fchmodSync(file, entry.mode ?? 0o644)
      if (owner) fchownSync(file, owner.uid, owner.gid)
    } finally {
      closeSync(file)
    }
  }
}

/**
 * Removes a tree in a helper process, because it may contain 100,000 files. An ordinary user first opens folders that
 * the sandbox has closed to their owner. Files of a sandbox with an image may belong to other ids of its range.
 */
export async function removeTree(path: string): Promise<void> {
  if (isInRange(path)) {
    await assertRange(path)
    return removeInRange(path)
  }
  const run = promisify(execFile)
  const remove = () => run('/bin/rm', ['-rf', '--one-file-system', '--', path])
  try {
    await remove()
  } catch {
    await run('/bin/chmod', ['-R', 'u+rwX', '--', path]).catch(() => {}) // rm reports the remaining files
    await remove().catch(() => removeInRange(path))
  }
}
