import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../support/assertions/eventually.ts'
import { findMessage, openSocket } from '../support/clients/socketClient.ts'
import { hostRootTar } from '../support/fixtures/hostRootTar.ts'
import { tinyImage } from '../support/fixtures/imageArchives.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { type Json, runningService, type TestService } from '../support/processes/runningService.ts'

/** Images of the service: import, listing, creation of sandboxes and removal. */
let service: TestService
let tiny: string

beforeAll(async () => {
  service = await runningService()
  tiny = await tinyImage(temporaryFolder('archive'))
})
afterAll(() => service?.close())

const add = (name: string, source: unknown, more: Json = {}) =>
  service.send('/v1/images', { body: { name, source, ...more } })
const archive = (path: string) => ({ kind: 'archive', path })
const imageNamed = async (name: string): Promise<Json> =>
  (await service.send('/v1/images')).json.images.find((it: Json) => it.name === name)
const waitForImage = (name: string): Promise<Json> =>
  until(`${name} to be added or not`, async () => {
    const image = await imageNamed(name)
    return image?.status !== 'adding' && image
  })

test('an added image emits events and remains undeletable while a sandbox uses it', async () => {
  const otherKey = secondAccount(service.dataDir).key
  const events = await openSocket(`${service.url}/v1/events`, { headers: { authorization: otherKey } })
  try {
    const added = await add('small', archive(await hostRootTar(temporaryFolder('root'))))
    expect(added.status, added.text).toBe(201)
    expect(added.json).toMatchObject({ name: 'small', runtime: 'bubblewrap', status: 'adding', size_bytes: null })
    expect((await add('small', archive(tiny))).json).toMatchObject({ code: 'image/exists' })
    expect(await waitForImage('small')).toMatchObject({
      status: 'ready',
      progress: null,
      size_bytes: expect.any(Number),
    })
    await until('the event', () =>
      events.messages.some(({ type, image }) => type === 'image.changed' && (image as Json).status === 'ready'),
    )

    const wrong = await service.send('/v1/sandboxes', { body: { image: 'small', runtime: 'docker' } })
    expect(wrong.status).toBe(400)
    const sandbox = await service.send('/v1/sandboxes', { body: { image: 'small' }, key: otherKey })
    expect(sandbox.status, sandbox.text).toBe(201)
    expect(sandbox.json).toMatchObject({ image: 'small', runtime: 'bubblewrap', status: 'running' })
    const result = await service.send(`/v1/sandboxes/${sandbox.json.id}/exec`, {
      body: { command: 'touch /usr/mine && chown 1234:4321 /usr/mine && stat -c %u:%g /usr/mine' },
      key: otherKey,
    })
    expect(result.json).toMatchObject({ stdout: '1234:4321\n', exit_code: 0 })

    const remove = () => service.send('/v1/images/small', { method: 'DELETE' })
    expect((await remove()).json).toMatchObject({ code: 'image/in-use' })
    await service.send(`/v1/sandboxes/${sandbox.json.id}/stop`, { method: 'POST', key: otherKey })
    expect((await remove()).status).toBe(409)
    await service.send(`/v1/sandboxes/${sandbox.json.id}`, { method: 'DELETE', key: otherKey })
    expect((await remove()).json).toMatchObject({ success: true, name: 'small' })
    await findMessage(events, { type: 'image.removed', name: 'small' })
    expect((await remove()).json).toMatchObject({ code: 'image/not-found' })
  } finally {
    events.close()
  }
})

test('an invalid image reports the reason and releases its name', async () => {
  await add('nothing', archive(join(temporaryFolder('none'), 'no-such-file')))
  expect(await waitForImage('nothing')).toMatchObject({
    status: 'failed',
    detail: expect.stringMatching(/does not exist/),
  })
  const failed = await service.send('/v1/sandboxes', { body: { image: 'nothing' } })
  expect(failed.json).toMatchObject({ code: 'image/not-found', error: expect.stringMatching(/could not be added/) })
  expect((await add('nothing', archive(tiny))).status).toBe(201)
  expect(await waitForImage('nothing')).toMatchObject({ status: 'ready' })
  expect((await add('nothing', archive(tiny))).json).toMatchObject({ code: 'image/exists' })
})

test('rejects invalid input before it adds an image', async () => {
  for (const [body, code, error] of [
    [{ name: 'Large', source: archive(tiny) }, 'request/invalid', /`name` must begin with a lower-case letter/],
    [{ name: 'x', source: archive('relative.tar') }, 'request/invalid', /absolute path/],
    [{ name: 'x', source: { kind: 'system', packages: ['--hostile'] } }, 'request/invalid', /names of packages/],
    [{ name: 'x', source: { kind: 'registry', reference: 'docker.io/library/debian:12' } }, 'image/source', /registry/],
    [{ name: 'x', runtime: 'vmware', source: archive(tiny) }, 'runtime/unknown', /vmware/],
  ] as const) {
    const answer = await service.send('/v1/images', { body })
    expect(answer.json, answer.text).toMatchObject({ code, error: expect.stringMatching(error) })
    expect(answer.status).toBe(400)
  }
  expect((await service.send('/v1/sandboxes', { body: { image: 'unknown' } })).json.code).toBe('image/not-found')
  expect(await imageNamed('x')).toBeUndefined()
})
