import { expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { HostImage } from '#shared/contract/hostIpc.ts'
import type { ImageName } from '#shared/contract/images.ts'
import { eventually } from '#test/support/assertions/eventually.ts'
import type { AddImage, SandboxRuntime } from '../runtimes/sandboxRuntime.ts'
import { createImages } from './images.ts'

const source = { kind: 'archive', path: '/tmp/root.tar' } as const
const ready = (name: ImageName): HostImage => ({
  name,
  runtime: 'near',
  status: 'ready',
  detail: 'It is there.',
  progress: null,
  sizeBytes: 1,
  createdAtMs: 0,
})

/** Creates a runtime with images in memory and another one whose engine is unavailable. */
function setting() {
  const stored = new Map<ImageName, HostImage>()
  const adding = Promise.withResolvers<void>()
  const near = {
    name: 'near',
    images: {
      list: async () => [...stored.values()],
      async add({ name, onProgress }: AddImage, signal: AbortSignal) {
        onProgress('Half of it is there.', 0.5)
        await Promise.race([adding.promise, new Promise((_, reject) => signal.addEventListener('abort', reject))])
        stored.set(name, ready(name))
        return ready(name)
      },
      remove: async (name: ImageName) => void stored.delete(name),
    },
  }
  const away = {
    name: 'away',
    images: {
      list: async () => [],
      async remove() {
        throw new AppError('runtime/unavailable', 'The engine is away.')
      },
    },
  }
  const states: string[] = []
  const all = createImages({
    runtimes: [near, away] as unknown as SandboxRuntime[], // only their images are used
    onChanged: ({ name, status, progress }) => states.push(`${name} ${status} ${progress}`),
    onRemoved: (name) => states.push(`${name} removed`),
    now: () => 0,
    log: silentLog,
  })
  return { all, adding, told: states }
}

test('adds an image with progress updates and removes it', async () => {
  const { all, adding, told: states } = setting()
  expect(await all.add({ runtime: 'near', name: 'one', source })).toMatchObject({ name: 'one', status: 'adding' })
  await expect(all.add({ runtime: 'near', name: 'one', source })).rejects.toMatchObject({ code: 'image/exists' })
  adding.resolve()
  await eventually(() => expect(states.at(-1)).toBe('one ready null'))
  expect(states).toContain('one adding 0.5')
  expect(await all.list()).toEqual([ready('one')])
  await all.remove('one')
  expect(states.at(-1)).toBe('one removed')
  await expect(all.remove('one')).rejects.toMatchObject({ code: 'image/not-found' })
})

test('lists a failed image until its removal but not an aborted one', async () => {
  const { all, adding, told: states } = setting()
  adding.reject(new AppError('image/failed', 'The archive is cut off.'))
  await all.add({ runtime: 'near', name: 'broken', source })
  await eventually(() => expect(states.at(-1)).toBe('broken failed null'))
  expect(await all.list()).toMatchObject([{ name: 'broken', status: 'failed', detail: 'The archive is cut off.' }])
  await all.remove('broken')

  const slow = setting()
  await slow.all.add({ runtime: 'near', name: 'slow', source })
  await slow.all.remove('slow')
  expect(await slow.all.list()).toEqual([])
  expect(slow.told.at(-1)).toBe('slow removed')
  await expect(slow.all.add({ runtime: 'none', name: 'x', source })).rejects.toMatchObject({ code: 'runtime/unknown' })
  await slow.all.close()
})
