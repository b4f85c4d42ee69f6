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
import { parseJsonOrUndefined } from '#platform/parseJsonOrUndefined.ts'
import { AppError } from '#shared/appError.ts'
import { ImageName } from '#shared/contract/images.ts'
import { SandboxId } from '#shared/ids.ts'
import type { BaseEntry } from './baseFiles.ts'
import { countIds, type IdBlock } from './idBlocks.ts'
import { assertRange, isInRange, removeInRange } from './images/inRange.ts'
import { shiftOwners } from './images/shiftOwners.ts'

/** The files of one machine and what Steward notes about it. */
export type SandboxFolder = {
  path: string
  storage: SandboxStorage
  /**
   * Whom its root is on the host: as root a user that nothing else has, else one of the subordinate ids of the user that
   * Steward runs as. Undefined: that user itself.
   */
  uid: number | undefined
  /** The image that it was made from; null is the host's own programs. */
  image: ImageName | null
}

/**
 * Location of a machine's content: `root` is its `/`, `usr-local` its `/usr/local`. With an image, `upper` holds the
 * changes to it.
 */
export type SandboxStorage =
  /** A folder that belongs to the machine's uid. */
  | { kind: 'folder'; path: string }
  /** A file with an ext4 file system of the machine's size, where its root is uid 0. `template`: copied to `path` first. */
  | { kind: 'image'; path: string; template?: string }

export type MakeSandbox = {
  uid: number | undefined
  image: ImageName | null
  files: /** Everything in it but what differs between machines. */
    | { kind: 'content'; content: readonly BaseEntry[] }
    /** The machine gets a disk of its own: a copy of this file. */
    | { kind: 'template'; path: string }
    /** `copy` makes them. */
    | { kind: 'copy'; source: SandboxStorage['kind']; copy: (to: string) => Promise<void> }
}

export type Owner = { uid: number; gid: number }

const Mark = z.object({ pid: z.int(), startedTicks: z.number() })
const RunRecord = z.object({ processes: z.array(Mark), cgroups: z.array(z.string()) })
/** Record of a run on the host: enough for another process to end it. */
export type RunRecord = z.infer<typeof RunRecord>

const SandboxFile = z.union([
  z.object({ version: z.literal(1), uid: z.int().nullable() }).transform((it) => ({ ...it, image: null })),
  z.object({ version: z.literal(2), uid: z.int().nullable(), image: ImageName.nullable() }),
])

export type SandboxFolders = {
  /**
   * Creates it with its content, owned by the machine's root. On failure, nothing is left; existing files are not
   * touched.
   */
  make(name: SandboxName, options: MakeSandbox): Promise<SandboxFolder>
  /** @throws AppError `sandbox/not-found` */
  find(id: SandboxId): Promise<SandboxFolder>
  list(): Promise<SandboxId[]>
  /** @throws AppError `runtime/unavailable` if its files belong to ids that Steward's user no longer has */
  remove(name: SandboxName): Promise<void>
  /** A warm sandbox's folder becomes that of a machine. @throws Error when that exists */
  adopt(name: WarmSandboxName, id: SandboxId): Promise<SandboxFolder>
  /** Warm sandboxes that an earlier host left. */
  listWarmSandboxes(): Promise<WarmSandboxName[]>
  /** Completes interrupted changes of a machine that is not running, and removes partial ones. */
  mend(id: SandboxId): Promise<void>
  getPath(name: SandboxName): string
  /** Removes what an earlier host made for all machines. */
  sweep(): Promise<void>
  /** Users of the host that the machines that are stored are. */
  ids(): Promise<[SandboxName, IdBlock][]>
  saveRun(name: SandboxName, run: RunRecord): Promise<void>
  readRun(name: SandboxName): Promise<RunRecord | undefined>
  forgetRun(name: SandboxName): Promise<void>
}

/** Name of a warm sandbox. */
export const WarmSandboxName = z
  .string()
  .regex(/^spare-[0-9a-f]{16}$/)
  .brand('SpareName')
export type WarmSandboxName = z.infer<typeof WarmSandboxName>
export type SandboxName = SandboxId | WarmSandboxName

/** @param base folder of all machines, accessible to Steward's user only */
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
        chmodSync(path, 0o755) // whatever the umask: below `base`, only the machine's uid comes here
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
      if (!folder) throw new AppError('sandbox/not-found', `There are no files of sandbox ${id} on this machine.`)
      return folder
    },
    async adopt(name, id) {
      if (existsSync(getPath(id))) throw new Error(`${getPath(id)} exists.`)
      await rename(getPath(name), getPath(id))
      const folder = await read(id)
      if (!folder) throw new Error(`${getPath(id)} is no machine.`)
      return folder
    },
    async listWarmSandboxes() {
      const names = await readdir(base).catch(() => [])
      return names.flatMap((name) => WarmSandboxName.safeParse(name).data ?? [])
    },
    list,
    async remove(name) {
      const storage = findStorage(getPath(name))
      // Disk images are few files: no other process is worth it.
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

/** Machines of the first version have their content beside what Steward notes, until they are mended. */
function findStorage(path: string): SandboxStorage | undefined {
  if (existsSync(join(path, diskName))) return { kind: 'image', path: join(path, diskName) }
  const folder = [join(path, filesName), path].find((it) => existsSync(join(it, 'root')))
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

/** An ordinary user may not give files away: `launch` of `start.pl` does, in the user namespace of sandboxes. */
function toFirstOwner(uid: number | undefined): Owner | undefined {
  if (uid === undefined || process.getuid?.() === 0) return uid === undefined ? undefined : { uid, gid: uid }
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
}

/** Copies end in this until they are complete. */
export const partSuffix = '.part'
/** Suffixes of the complete new files before they replace the present ones, and of the replaced ones. */
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
    // `root` last: as long as it is here, the others are moved again.
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

/** Done in one go: these few dozen calls take less time than handing each to a thread would. */
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
 * Another process does it: there may be a hundred thousand files. Folders that the sandbox has closed to their owner
 * stop an ordinary user: they are opened first. Those of a machine of an image may belong to others of its range.
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
    await run('/bin/chmod', ['-R', 'u+rwX', '--', path]).catch(() => {}) // rm tells what stays
    await remove().catch(() => removeInRange(path))
  }
}
