import { expect, test } from 'vitest'
import type { HostImage } from '#shared/contract/hostIpc.ts'
import { ImageName } from '#shared/contract/images.ts'
import type { HostCall } from '../host/hostCalls.ts'
import { createImages } from './images.ts'

const image = (name: string, status: HostImage['status']): HostImage => ({
  name: ImageName.parse(name),
  runtime: 'bubblewrap',
  status,
  detail: 'Its layer 2 is missing.',
  progress: null,
  sizeBytes: null,
  createdAtMs: 0,
})

const noRuntimes: Parameters<typeof createImages>[0]['runtimes'] = {
  list: async () => [],
  choose: async () => Promise.reject(new Error('Nothing is chosen here.')),
  forget() {},
}

/** Returns the call of a host with these images. */
const answering = (listed: HostImage[]): HostCall =>
  // called only to list images
  (async () => ({ result: { images: listed }, body: Buffer.alloc(0) })) as unknown as HostCall

test('accepts only a ready image for a new sandbox', async () => {
  const call = answering([image('ready', 'ready'), image('adding', 'adding'), image('failed', 'failed')])
  const images = createImages({ call, runtimes: noRuntimes, countSandboxes: async () => 0 })
  const ready = (name: string) => images.ready(ImageName.parse(name))
  expect(await ready('ready')).toMatchObject({ name: 'ready' })
  await expect(ready('adding')).rejects.toMatchObject({ code: 'image/not-ready', status: 409 })
  await expect(ready('failed')).rejects.toMatchObject({
    code: 'image/not-found',
    message: 'The image `failed` could not be added: Its layer 2 is missing.',
  })
  await expect(ready('unknown')).rejects.toMatchObject({ code: 'image/not-found', status: 404 })
})

test('rejects an image that is being removed', async () => {
  const name = ImageName.parse('ready')
  const { promise: removed, resolve: remove } = Promise.withResolvers<void>()
  const listing = answering([image('ready', 'ready')])
  const call = (async (...parameters: Parameters<HostCall>) => {
    if (parameters[0] === 'image.remove') await removed
    return listing(...parameters)
  }) as HostCall // called only to list images
  const images = createImages({ call, runtimes: noRuntimes, countSandboxes: async () => 0 })
  const ready = images.ready(name)
  const removal = images.remove(name)
  const beingRemoved = { code: 'image/not-ready', message: 'The image `ready` is being removed.' }
  await expect(ready).rejects.toMatchObject(beingRemoved)
  expect(() => images.requireStored(name)).toThrow(expect.objectContaining(beingRemoved))
  await expect(images.remove(name)).rejects.toMatchObject(beingRemoved)
  remove()
  await removal
  expect(await images.ready(name)).toMatchObject({ name })
})
