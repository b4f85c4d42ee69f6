import { createWriteStream } from 'node:fs'
import { stat, statfs } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AppError } from '#shared/appError.ts'
import type { HostImage } from '#shared/contract/hostIpc.ts'
import type { ImageSource } from '#shared/contract/images.ts'
import type { AddImage, RuntimeImages } from '../../sandboxRuntime.ts'
import { findExecutable } from '../hostTools.ts'
import { type ImageArchive, readArchive } from './archiveFile.ts'
import { debianSystem } from './debianSystem.ts'
import { compressionOf, decompressed } from './decompressed.ts'
import { findIdRange } from './idRange.ts'
import type { ImageFile, ImageStore, StoredImage } from './imageStore.ts'
import { type LayerReport, type LayerWriter, layerWriter } from './layerWriter.ts'
import { ownDistribution } from './ownDistribution.ts'
import { type LayerLimits, readFailure, writeTar } from './tarLayer.ts'

type ImagesOptions = {
  runtime: string
  store: ImageStore
  /** What is missing for machines of images, else nothing. */
  obstacle: () => Promise<string | undefined>
  perl: () => Promise<string>
  now: () => number
  /** Left free on the disk; for tests. */
  reservedBytes?: number
}

type FilledSource = Exclude<ImageSource, { kind: 'registry' }>

const addMs = 30 * 60_000
const mostFiles = 3_000_000
const reserve = 512 * 1024 * 1024

/** The images of bubblewrap machines. */
export function bubblewrapImages(options: ImagesOptions): RuntimeImages {
  const { runtime, store, now } = options

  const told = ({ name, detail, sizeBytes, createdAtMs }: StoredImage): HostImage => ({
    ...{ name, runtime, status: 'ready', detail, progress: null },
    ...{ sizeBytes, createdAtMs },
  })

  const fill = async (
    { source, onProgress }: { source: FilledSource; onProgress: AddImage['onProgress'] },
    place: { root: string; spare: string },
    signal: AbortSignal,
  ): Promise<ImageFile> => {
    const range = await findIdRange()
    if (typeof range === 'string') throw new AppError('image/failed', range)
    const writer = layerWriter({ perl: await options.perl(), range, folder: place.root })
    const calledOff = (): void => void writer.close()
    signal.addEventListener('abort', calledOff, { once: true })
    try {
      const bytesLeft = await room(place.root, options.reservedBytes ?? reserve)
      const limits: LayerLimits = { bytesLeft, entriesLeft: mostFiles }
      const filling = { writer, limits, spare: place.spare, onProgress, signal }
      const made = source.kind === 'system' ? await fromSystem(source, filling) : await fromArchive(source, filling)
      const { bytes, bash } = await writer.end()
      signal.throwIfAborted()
      needBash(bash)
      return { version: 1, ...made, sizeBytes: bytes, createdAtMs: now() }
    } catch (failure) {
      signal.throwIfAborted()
      throw failure
    } finally {
      signal.removeEventListener('abort', calledOff)
      await writer.close()
    }
  }

  return {
    list: async () => (await store.list()).map(told),
    async add(request, signal) {
      const { name, source, onProgress } = request
      if (source.kind === 'registry') {
        throw new AppError('image/source', 'Bubblewrap pulls from no registry: save the image to a file, and add that.')
      }
      const obstacle = await options.obstacle()
      if (obstacle !== undefined) throw new AppError('image/failed', obstacle)
      await store.sweep()
      const late = AbortSignal.timeout(addMs)
      try {
        return told(
          await store.add(name, (place) => fill({ source, onProgress }, place, AbortSignal.any([signal, late]))),
        )
      } catch (failure) {
        if (!late.aborted || signal.aborted) throw failure
        throw tooLate(failure)
      }
    },
    remove: (name) => store.remove(name),
  }
}

/** @returns what is missing to make images of this machine's own distribution, else nothing */
export async function systemObstacle(): Promise<string | undefined> {
  const [distribution, mmdebstrap] = await Promise.all([ownDistribution(), findExecutable('mmdebstrap')])
  if (typeof distribution === 'string') return distribution
  if (mmdebstrap !== undefined) return undefined
  return 'Images of this system need mmdebstrap. On Debian and Ubuntu: apt-get install mmdebstrap'
}

type Filling = {
  writer: LayerWriter
  limits: LayerLimits
  spare: string
  onProgress: AddImage['onProgress']
  signal: AbortSignal
}
type Made = Pick<ImageFile, 'detail' | 'path'>

async function fromSystem(
  { packages }: Extract<ImageSource, { kind: 'system' }>,
  { writer, limits, onProgress, signal }: Filling,
): Promise<Made> {
  const [distribution, mmdebstrap] = await Promise.all([ownDistribution(), findExecutable('mmdebstrap')])
  if (typeof distribution === 'string') throw new AppError('image/source', distribution)
  if (mmdebstrap === undefined) throw new AppError('image/failed', (await systemObstacle()) ?? '')
  onProgress(`Making ${distribution.title}`, 0)
  const request = { mmdebstrap, distribution, packages, onProgress, signal }
  await debianSystem(request, (tar) => writeTar(tar, { writer, limits, layered: false, signal }))
  const more = packages.length === 0 ? '' : ` with ${packages.join(', ')}`
  return { detail: `${distribution.title}${more}, made from the packages of this machine's distribution.`, path: null }
}

async function fromArchive({ path }: Extract<ImageSource, { kind: 'archive' }>, filling: Filling): Promise<Made> {
  const { writer, limits, onProgress, signal } = filling
  await needFile(path)
  onProgress('Reading the archive', 0)
  const archive = await readArchive(await plainFile(path, filling), signal)
  for (const [index, layer] of archive.layers.entries()) {
    const many = archive.layers.length > 1
    const share = index / archive.layers.length
    onProgress(many ? `Unpacking layer ${index + 1} of ${archive.layers.length}` : 'Unpacking', many ? share : null)
    await writer.layer()
    await writeTar(await layer.open(), { writer, limits, layered: archive.layered, signal })
  }
  return { detail: described(path, archive), path: sensiblePath(archive.environment) }
}

/** As elf(5) numbers them. */
const architectures: Partial<Record<NodeJS.Architecture, number>> = { x64: 62, arm64: 183 }

/** Commands and terminals run it: an image without one would make sandboxes that nobody can use. */
function needBash(bash: LayerReport['bash']): void {
  const wrong = (sentence: string) => new AppError('image/failed', sentence)
  if (bash === null) throw wrong('It has no bash, which every sandbox needs: add the package bash to it.')
  if (bash.architecture === 0) throw wrong('Its bash is not a Linux program.')
  if (bash.architecture !== architectures[process.arch]) {
    throw wrong(`Its bash is for other processors than ${process.arch}: save the image for this computer.`)
  }
  if (bash.loaded === false) throw wrong(`Its bash needs ${bash.loader}, which is missing.`)
}

function tooLate(cause: unknown): AppError {
  return new AppError('image/failed', `It was not complete after ${addMs / 60_000} minutes.`, { cause })
}

async function needFile(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (!found)
    throw new AppError('image/failed', `There is no file ${path} on this machine, or Steward may not read it.`)
  if (!found.isFile()) throw new AppError('image/failed', `${path} is no file.`)
}

/** The archive itself, or a copy of it that is not compressed: its layers are in no certain order. */
async function plainFile(path: string, { spare, limits, signal }: Filling): Promise<string> {
  const compression = await compressionOf({ path })
  if (compression === 'none') return path
  const plain = join(spare, 'archive.tar')
  let left = limits.bytesLeft
  const counted = new Transform({
    transform(chunk: Buffer, _, done) {
      left -= chunk.length
      if (left < 0)
        done(new AppError('file/no-space', 'The image is too large: there is not so much room on the disk.'))
      else done(null, chunk)
    },
  })
  try {
    await pipeline(decompressed({ path }, compression), counted, createWriteStream(plain), { signal })
  } catch (failure) {
    signal.throwIfAborted()
    throw readFailure(failure)
  }
  limits.bytesLeft = left
  return plain
}

/** Everybody may read it: of the file its name, not the host's folders. */
function described(path: string, { title, layered, ignored }: ImageArchive): string {
  const what = layered
    ? `The image ${title ?? 'without a name'} of ${basename(path)}.`
    : `The files of ${basename(path)}.`
  return ignored.length === 0 ? what : `${what} Not used of its settings: ${ignored.join(', ')}.`
}

/** PATH of the image where every part of it is an absolute path. */
function sensiblePath(environment: readonly string[]): string | null {
  const path = environment.find((line) => line.startsWith('PATH='))?.slice('PATH='.length)
  if (path === undefined || path === '' || path.length > 4096) return null
  return path.split(':').every((part) => /^\/[\x21-\x7e]*$/.test(part)) ? path : null
}

async function room(folder: string, reserved: number): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return Math.max(0, bavail * bsize - reserved)
}
