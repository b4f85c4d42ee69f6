import type { ImageInspectInfo } from 'dockerode'
import { AppError } from '../../../../shared/appError.ts'
import type { HostImage } from '../../../../shared/contract/hostIpc.ts'
import { ImageName } from '../../../../shared/contract/images.ts'
import type { AddImage, RuntimeImages } from '../sandboxRuntime.ts'
import { unless } from './containers.ts'
import { type DockerEngine, EngineRefusal } from './dockerEngine.ts'
import { EngineComplaint, followed } from './engineLines.ts'
import { loadArchive } from './imageArchive.ts'
import { layerProgress } from './layerProgress.ts'
import { repository } from './ownership.ts'

const addMs = 3_600_000
const removeMs = 120_000
const tag = 'latest'

export const imageReference = (owner: string, name: ImageName): string => `${repository(owner)}/image/${name}:${tag}`

/** Images of the engine that bear a name of ours; what else the engine has is neither shown nor touched. */
export function dockerImages(engine: DockerEngine, owner: string, runtime: string): RuntimeImages {
  const inspect = (reference: string): Promise<ImageInspectInfo | undefined> => inspectImage(engine, reference)
  const prefix = `${repository(owner)}/image/`

  const described = (name: ImageName, found: { size: number; createdAtMs: number; detail: string }): HostImage => ({
    name,
    runtime,
    status: 'ready',
    detail: found.detail,
    progress: null,
    sizeBytes: found.size,
    createdAtMs: found.createdAtMs,
  })

  const nameIt = async (name: ImageName, source: string): Promise<HostImage> => {
    const reference = imageReference(owner, name)
    const [repo = ''] = reference.split(`:${tag}`)
    await engine.use('name an image', (docker, abortSignal) => docker.getImage(source).tag({ repo, tag, abortSignal }))
    const found = await inspect(reference)
    if (!found) throw new AppError('image/failed', `The engine lost the image \`${name}\`.`)
    return described(name, { ...sizesOf(found), detail: `In the container engine, as ${reference}.` })
  }

  const everyName = async (): Promise<Set<string>> => {
    const all = await engine.use('list images', (docker, abortSignal) => docker.listImages({ abortSignal }))
    return new Set(all.flatMap(({ RepoTags }) => RepoTags ?? []))
  }

  const add = async ({ name, source, onProgress }: AddImage, signal: AbortSignal): Promise<HostImage> => {
    if (await inspect(imageReference(owner, name))) {
      throw new AppError('image/exists', `There is an image \`${name}\` already.`)
    }
    if (source.kind === 'system') {
      throw new AppError('image/source', 'The runtime docker makes images from a registry or from an archive only.')
    }
    if (source.kind === 'archive') {
      const before = await everyName()
      const loaded = await loadArchive({ engine, path: source.path, onProgress, signal })
      const added = await nameIt(name, loaded)
      // What the archive calls it goes, unless it was there before us.
      if (/[:/]/.test(loaded) && !before.has(loaded)) await removeReference(engine, loaded)
      return added
    }
    const present = await inspect(source.reference)
    await pullImage({ engine, reference: source.reference, onProgress, signal })
    const added = await nameIt(name, source.reference)
    // The engine's own name for it goes, unless it was there before us.
    if (!present) await removeReference(engine, source.reference)
    return added
  }

  return {
    async list() {
      const filters = { reference: [`${prefix}*`] }
      const call = engine.use('list images', (docker, abortSignal) => docker.listImages({ filters, abortSignal }))
      // An engine that is away has none that could be used.
      const found = await call.catch((failure: unknown) => {
        if (failure instanceof AppError && failure.code === 'runtime/unavailable') return []
        throw failure
      })
      return found.flatMap(({ RepoTags, Size, Created }) =>
        (RepoTags ?? []).flatMap((reference) => {
          if (!reference.startsWith(prefix)) return []
          const name = ImageName.safeParse(reference.slice(prefix.length, -`:${tag}`.length)).data
          if (name === undefined) return []
          const detail = `In the container engine, as ${reference}.`
          return described(name, { size: Size, createdAtMs: Created * 1000, detail })
        }),
      )
    },
    async add(request, signal) {
      try {
        return await add({ ...request, onProgress: changes(request.onProgress) }, signal)
      } catch (failure) {
        if (failure instanceof EngineRefusal || failure instanceof EngineComplaint) {
          throw imageFailed(failure.message, failure)
        }
        throw failure
      }
    },
    remove: (name) => removeReference(engine, imageReference(owner, name)),
  }
}

export async function inspectImage(engine: DockerEngine, reference: string): Promise<ImageInspectInfo | undefined> {
  const call = engine.use('find an image', (docker) => docker.getImage(reference).inspect())
  return call.catch(unless(404))
}

/** Takes a name away, and with the last name the image. Succeeds when there is none. @throws EngineRefusal 409 in use */
export async function removeReference(engine: DockerEngine, reference: string): Promise<void> {
  const call = engine.use('remove an image', (docker) => docker.getImage(reference).remove(), { ms: removeMs })
  await call.catch(unless(404))
}

type Pull = {
  engine: DockerEngine
  reference: string
  onProgress: (sentence: string, share: number | null) => void
  signal: AbortSignal
}

/** @throws AppError `image/failed` */
export async function pullImage({ engine, reference, onProgress, signal }: Pull): Promise<void> {
  onProgress(`The container engine asks for ${reference}.`, null)
  const progress = layerProgress()
  try {
    await engine.use(
      'fetch an image',
      async (docker, ending) => {
        const stream = await docker.pull(withTag(reference), { abortSignal: ending })
        ending.addEventListener('abort', () => 'destroy' in stream && (stream as { destroy(): void }).destroy())
        await followed(docker, stream, (line) => {
          const share = progress(line)
          onProgress(`The container engine fetches ${reference}.`, share)
        })
      },
      { signal, ms: addMs },
    )
  } catch (failure) {
    if (!(failure instanceof EngineRefusal) && !(failure instanceof EngineComplaint)) throw failure
    throw imageFailed(`${reference} could not be fetched: ${failure.message}`, failure)
  }
}

/** Docker would fetch every tag of a name without one. */
function withTag(reference: string): string {
  return /[:@][^/]*$/.test(reference) ? reference : `${reference}:latest`
}

function imageFailed(message: string, cause: unknown): AppError {
  return new AppError('image/failed', message, { cause })
}

function sizesOf({ Size, Created }: ImageInspectInfo): { size: number; createdAtMs: number } {
  return { size: Size, createdAtMs: Math.trunc(Date.parse(Created)) || 0 }
}

/** Tells each sentence and each hundredth once. */
function changes(onProgress: AddImage['onProgress']): AddImage['onProgress'] {
  let told = ''
  return (sentence, share) => {
    const now = `${sentence}${share === null ? '' : Math.floor(share * 100)}`
    if (now !== told) onProgress(sentence, share)
    told = now
  }
}
