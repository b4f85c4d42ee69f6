import { beforeEach, expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import type { SandboxSpec } from '#shared/contract/hostIpc.ts'
import { eventually } from '#test/support/assertions/eventually.ts'
import { newSandboxId } from '#test/support/clients/hostClient.ts'
import { createFakeRuntime } from '#test/support/fakes/fakeRuntime.ts'
import { createSandboxSpec } from '#test/support/fixtures/sandboxSpecs.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { createSandboxes, type Sandboxes } from './sandboxes.ts'
import { createSandboxLabels } from './sandboxLabels.ts'

type Setting = {
  runtime: ReturnType<typeof createFakeRuntime>
  machines: Sandboxes
  stopped: string[]
  counts: number[]
}

function setting(options: { startMs?: number; deadlineMs?: number } = {}): Setting {
  const runtime = createFakeRuntime({
    folder: temporaryFolder('machines'),
    ...(options.startMs !== undefined && { startMs: options.startMs }),
  })
  const stopped: string[] = []
  const counts: number[] = []
  const sandboxes = createSandboxes({
    runtimes: [runtime],
    labels: createSandboxLabels(temporaryFolder('labels')),
    onStopping: (_, stopping) => void (stopping || stopped.push('not stopping')),
    onStopped: async () => void stopped.push('stopped'),
    onEnded: (_, reason) => void stopped.push(`ended: ${reason}`),
    onDeleted: async () => void stopped.push('deleted'),
    onCount: (count) => void counts.push(count),
    deadlines: { startMs: options.deadlineMs ?? 60_000, stopMs: 60_000, snapshotMs: 60_000 },
    log: silentLog,
  })
  return { runtime, machines: sandboxes, stopped, counts }
}

let spec: SandboxSpec
beforeEach(() => {
  spec = createSandboxSpec({ id: newSandboxId(), runtime: 'local' })
})

test('a sandbox runs from creation until it is stopped and can be restarted', async () => {
  const it = setting()
  const created = await it.machines.create(spec)
  expect(created).toMatchObject({ id: spec.id, runtime: 'local' })
  expect(it.machines.list()).toEqual([created])
  await it.machines.stop(spec.id)
  expect(it.machines.list()).toEqual([])
  expect(() => it.machines.get(spec.id)).toThrow(expect.objectContaining({ code: 'sandbox/not-running' }))
  await it.machines.start(spec)
  expect(it.machines.get(spec.id).id).toBe(spec.id)
  await it.machines.close()
  expect(it.counts).toEqual([1, 0, 1, 0])
  expect(it.stopped).toEqual(['stopped', 'stopped'])
})

test('starting a running sandbox returns it, stopping or deleting a missing one succeeds', async () => {
  const it = setting()
  await it.machines.stop(spec.id)
  await it.machines.delete(spec.id)
  const created = await it.machines.create(spec)
  expect(await it.machines.start(spec)).toEqual(created)
  await it.machines.delete(spec.id)
  await expect(it.machines.start(spec)).rejects.toMatchObject({ code: 'sandbox/not-found' })
  expect(await it.machines.listStored()).toEqual([])
})

test('an unknown runtime is named in the error', async () => {
  const it = setting()
  await expect(it.machines.create({ ...spec, runtime: 'cloud' })).rejects.toMatchObject({
    code: 'runtime/unknown',
    message: expect.stringContaining('cloud'),
  })
})

test('a start that times out fails and leaves nothing behind', async () => {
  const it = setting({ startMs: 120_000, deadlineMs: 20 })
  await expect(it.machines.create(spec)).rejects.toMatchObject({ code: 'sandbox/start-failed' })
  expect(it.machines.list()).toEqual([])
  expect(await it.machines.listStored()).toEqual([])
})

test('deleting a sandbox cancels its pending start', async () => {
  const it = setting({ startMs: 120_000 })
  const creating = it.machines.create(spec)
  const deleting = it.machines.delete(spec.id)
  await expect(creating).rejects.toMatchObject({ code: 'sandbox/not-found' })
  await deleting
  expect(await it.machines.listStored()).toEqual([])
})

test('reports the unexpected end of a sandbox once with the reason', async () => {
  const it = setting()
  await it.machines.create(spec)
  it.runtime.end(spec.id)
  await eventually(() => expect(it.stopped).toEqual(['ended: Its init was killed.', 'stopped']))
  expect(it.machines.list()).toEqual([])
})

test('describes each sandbox with files until it is deleted, running or not', async () => {
  const it = setting()
  const stopped = { ...spec, id: newSandboxId() }
  for (const each of [spec, stopped]) await it.machines.create(each)
  await it.machines.stop(stopped.id)
  const describeStored = (id: string) => ({ id, runtime: 'local', label: null, snapshots: [] })
  expect(await it.machines.describeStored()).toEqual(
    expect.arrayContaining([describeStored(spec.id), describeStored(stopped.id)]),
  )
  await it.machines.delete(spec.id)
  expect(await it.machines.describeStored()).toEqual([describeStored(stopped.id)])
  await it.machines.close()
})

test('starts nothing while closing', async () => {
  const it = setting()
  await it.machines.create(spec)
  await it.machines.close()
  await expect(it.machines.create({ ...spec, id: newSandboxId() })).rejects.toMatchObject({ code: 'host/unavailable' })
})
