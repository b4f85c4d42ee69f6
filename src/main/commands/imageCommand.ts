import { join } from 'node:path'
import type { StartOptions } from '#config/startOptions.ts'
import { createBubblewrapRuntime } from '#host/runtimes/bubblewrap/bubblewrapRuntime.ts'
import { createSandboxFolders } from '#host/runtimes/bubblewrap/sandboxFolder.ts'
import type { RuntimeImages } from '#host/runtimes/sandboxRuntime.ts'
import { openDataFolder } from '#platform/files/dataFolder.ts'
import { silentLog } from '#platform/logging/log.ts'
import { getHostFolder } from '#platform/net/hostSocket.ts'
import { handleEndSignals } from '#platform/program/endSignals.ts'
import { AppError } from '#shared/appError.ts'
import type { HostImage } from '#shared/contract/hostIpc.ts'
import type { ImageName } from '#shared/contract/images.ts'
import { type ImageOrder, parseImageCommand } from './imageOrder.ts'

/**
 * Adds, removes or lists sandbox images. Works whether or not Steward is running.
 * @returns the exit code of the program
 * @throws AppError `image/…`
 */
export async function runImage({ image, dataFolder, json }: StartOptions): Promise<number> {
  const order = parseImageCommand(image ?? { positionals: [], from: undefined, packages: undefined })
  await openDataFolder(dataFolder)
  const folder = join(getHostFolder(dataFolder), 'machines')
  const imagesFolder = join(getHostFolder(dataFolder), 'images')
  const runtime = createBubblewrapRuntime({ folder, imagesFolder, log: silentLog, now: Date.now })
  const done = await runOrder(order, { images: runtime.images, folder }).finally(() => runtime.close())
  if (json) process.stdout.write(`${JSON.stringify(done.output)}\n`)
  else process.stdout.write(done.text)
  return 0
}

type Done = { output: { event: string } & Record<string, unknown>; text: string }

async function runOrder(
  order: ImageOrder,
  { images, folder }: { images: RuntimeImages; folder: string },
): Promise<Done> {
  switch (order.kind) {
    case 'list': {
      const listed = await images.list()
      const lines = listed.map((image) => `${image.name}  ${formatSize(image)}  ${image.detail}\n`)
      return { output: { event: 'images', images: listed }, text: lines.join('') || 'No images.\n' }
    }
    case 'remove':
      await assertNotInUse(order.name, folder)
      if (!(await images.list()).some(({ name }) => name === order.name)) {
        throw new AppError('image/not-found', `There is no image \`${order.name}\`.`)
      }
      await images.remove(order.name)
      return { output: { event: 'image.removed', name: order.name }, text: `Removed the image ${order.name}.\n` }
    case 'add': {
      const image = await add(order, images)
      const text = `The image ${image.name} is ready (${formatSize(image)}): ${image.detail}\n`
      return { output: { event: 'image.added', image }, text }
    }
  }
}

async function add({ name, source }: Extract<ImageOrder, { kind: 'add' }>, images: RuntimeImages): Promise<HostImage> {
  const calledOff = new AbortController()
  handleEndSignals({ end: () => calledOff.abort(), force: () => process.exit(1), now: Date.now })
  const progress = createProgressLine(process.stderr)
  try {
    return await images.add({ name, source, onProgress: progress.show }, calledOff.signal)
  } catch (error) {
    if (!calledOff.signal.aborted) throw error
    throw createCancelledError(name, error)
  } finally {
    progress.end()
  }
}

function createCancelledError(name: ImageName, cause: unknown): AppError {
  return new AppError('image/failed', `Cancelled adding the image ${name}. Nothing was added.`, { cause })
}

/** Checks the files of all sandboxes in the data folder, because the database of the service is not available here. */
async function assertNotInUse(name: ImageName, folder: string): Promise<void> {
  const folders = createSandboxFolders(folder)
  const sandboxes = await Promise.all((await folders.list()).map((id) => folders.find(id).catch(() => undefined)))
  const sandboxCount = sandboxes.filter((sandbox) => sandbox?.image === name).length
  if (sandboxCount > 0) {
    throw new AppError('image/in-use', `Sandboxes that use the image ${name}: ${sandboxCount}.`)
  }
}

/** Creates a progress display: one rewritten line on a terminal, otherwise one line per step. */
function createProgressLine(to: NodeJS.WriteStream) {
  let last = ''
  return {
    show(sentence: string, share: number | null): void {
      const text = share === null ? `${sentence} …` : `${sentence} … ${Math.round(share * 100)} %`
      if (text === last) return
      last = text
      to.write(to.isTTY ? `\r\x1b[K${text}` : `${text}\n`)
    },
    end(): void {
      if (to.isTTY && last !== '') to.write('\r\x1b[K')
    },
  }
}

function formatSize({ sizeBytes }: HostImage): string {
  return sizeBytes === null ? 'of unknown size' : `${Math.round(sizeBytes / 1_000_000)} MB`
}
