import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { DockerEngine } from './dockerEngine.ts'
import { inspectImage, pullImage } from './dockerImages.ts'
import type { DockerOptions } from './dockerOptions.ts'

/** Default image of sandboxes. Pulled on first use. */
export type BaseImage = {
  /**
   * Returns the image reference once the engine has the image. Waits for the pull with a timeout; the pull continues
   * afterwards.
   * @throws AppError `image/not-ready` with the progress, `image/not-found` if pulling is disabled, `image/failed`
   */
  ready(signal: AbortSignal): Promise<string>
  /** Returns a sentence about the missing image, or null if the engine has it. */
  missing(): Promise<string | null>
}

/** Leaves time for the rest of a sandbox's start, which must complete within 30 seconds. */
const maxWaitMs = 20_000

export function createBaseImage(engine: DockerEngine, { image, pull }: DockerOptions, log: Log): BaseImage {
  let fetching: Promise<void> | undefined
  let progress = ''

  const fetch = async (): Promise<void> => {
    log.info('pulling the base image', { image })
    let lastTenth = 0
    const onProgress = (sentence: string, share: number | null): void => {
      progress = share === null ? sentence : `${sentence.replace(/\.$/, '')}: ${Math.floor(share * 100)} %.`
      const tenth = Math.floor((share ?? 0) * 10)
      if (tenth > lastTenth) log.info('pulling the base image', { image, share })
      lastTenth = Math.max(tenth, lastTenth)
    }
    try {
      await pullImage({ engine, reference: image, onProgress, signal: new AbortController().signal })
      log.info('base image ready', { image })
    } catch (error) {
      log.warn('failed to pull the base image', { image, error })
      throw error
    } finally {
      fetching = undefined
    }
  }

  return {
    async ready(signal) {
      if (!fetching && (await inspectImage(engine, image))) return image
      if (!pull) {
        const message = `The container engine does not have ${image}, and \`sandboxes.docker.pull\` is off.`
        throw new AppError('image/not-found', message)
      }
      fetching ??= fetch()
      fetching.catch(() => {}) // prevents an unhandled rejection
      const late = AbortSignal.any([signal, AbortSignal.timeout(maxWaitMs)])
      const tired = new Promise<'tired'>((resolve) => late.addEventListener('abort', () => resolve('tired')))
      if ((await Promise.race([fetching, tired])) === 'tired') throw new AppError('image/not-ready', progress)
      return image
    },
    async missing() {
      if (fetching) return progress
      if (await inspectImage(engine, image)) return null
      if (pull) return `${image} will be pulled when the first sandbox needs it.`
      return `The engine does not have ${image}, and \`sandboxes.docker.pull\` is off.`
    },
  }
}
