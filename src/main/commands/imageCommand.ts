import { join } from 'node:path'
import type { StartOptions } from '#config/startOptions.ts'
import { bubblewrapRuntime } from '#host/runtimes/bubblewrap/bubblewrapRuntime.ts'
import { machineFolders } from '#host/runtimes/bubblewrap/machineFolder.ts'
import type { RuntimeImages } from '#host/runtimes/sandboxRuntime.ts'
import { openDataFolder } from '#platform/dataFolder.ts'
import { onEndSignal } from '#platform/endSignals.ts'
import { hostFolder } from '#platform/hostSocket.ts'
import { silentLog } from '#platform/log.ts'
import { AppError } from '#shared/appError.ts'
import type { HostImage } from '#shared/contract/hostIpc.ts'
import type { ImageName } from '#shared/contract/images.ts'
import { type ImageOrder, imageOrder } from './imageOrder.ts'

/**
 * Adds, removes or lists what sandboxes can be made from, whether Steward runs or not.
 * @returns the exit code of the program
 * @throws AppError `image/…`
 */
export async function runImage({ image, dataFolder, json }: StartOptions): Promise<number> {
  const order = imageOrder(image ?? { words: [], from: undefined, packages: undefined })
  await openDataFolder(dataFolder)
  const folder = join(hostFolder(dataFolder), 'machines')
  const imagesFolder = join(hostFolder(dataFolder), 'images')
  const runtime = bubblewrapRuntime({ folder, imagesFolder, log: silentLog, now: Date.now })
  const done = await carryOut(order, { images: runtime.images, folder }).finally(() => runtime.close())
  if (json) process.stdout.write(`${JSON.stringify(done.told)}\n`)
  else process.stdout.write(done.text)
  return 0
}

type Done = { told: { event: string } & Record<string, unknown>; text: string }

async function carryOut(
  order: ImageOrder,
  { images, folder }: { images: RuntimeImages; folder: string },
): Promise<Done> {
  switch (order.kind) {
    case 'list': {
      const listed = await images.list()
      const lines = listed.map((image) => `${image.name}  ${sizeOf(image)}  ${image.detail}\n`)
      return { told: { event: 'images', images: listed }, text: lines.join('') || 'There is no image.\n' }
    }
    case 'remove':
      await refuseInUse(order.name, folder)
      if (!(await images.list()).some(({ name }) => name === order.name)) {
        throw new AppError('image/not-found', `There is no image \`${order.name}\`.`)
      }
      await images.remove(order.name)
      return { told: { event: 'image.removed', name: order.name }, text: `The image ${order.name} is removed.\n` }
    case 'add': {
      const image = await add(order, images)
      const text = `The image ${image.name} is ready (${sizeOf(image)}): ${image.detail}\n`
      return { told: { event: 'image.added', image }, text }
    }
  }
}

async function add({ name, source }: Extract<ImageOrder, { kind: 'add' }>, images: RuntimeImages): Promise<HostImage> {
  const calledOff = new AbortController()
  onEndSignal({ end: () => calledOff.abort(), force: () => process.exit(1), now: Date.now })
  const progress = progressLine(process.stderr)
  try {
    return await images.add({ name, source, onProgress: progress.show }, calledOff.signal)
  } catch (failure) {
    if (!calledOff.signal.aborted) throw failure
    throw calledOffError(name, failure)
  } finally {
    progress.end()
  }
}

function calledOffError(name: ImageName, cause: unknown): AppError {
  return new AppError('image/failed', `Adding the image ${name} was called off; nothing of it is left.`, { cause })
}

/** The service asks its records; here are the files of all that it knows. */
async function refuseInUse(name: ImageName, folder: string): Promise<void> {
  const folders = machineFolders(folder)
  const machines = await Promise.all((await folders.list()).map((id) => folders.find(id).catch(() => undefined)))
  const made = machines.filter((machine) => machine?.image === name).length
  if (made > 0) {
    throw new AppError('image/in-use', `Sandboxes are made from the image ${name}: ${made}.`)
  }
}

/** On a terminal one line that is written anew, elsewhere a line for each step. */
function progressLine(to: NodeJS.WriteStream) {
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

function sizeOf({ sizeBytes }: HostImage): string {
  return sizeBytes === null ? 'of unknown size' : `${Math.round(sizeBytes / 1_000_000)} MB`
}
