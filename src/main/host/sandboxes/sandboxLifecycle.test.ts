import { expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { SandboxId } from '#shared/ids.ts'
import { eventually } from '#test/support/assertions/eventually.ts'
import type { SandboxInstance } from '../runtimes/sandboxRuntime.ts'
import { createSandboxLifecycle } from './sandboxLifecycle.ts'

const id = SandboxId.parse('a1'.repeat(16))
const runtime = 'local'
const busy = expect.objectContaining({ code: 'sandbox/busy' })
const notRunning = expect.objectContaining({ code: 'sandbox/not-running' })

function createInstance() {
  const { promise: ended, resolve: end } = Promise.withResolvers<string>()
  const instance = {
    id,
    ended,
    stop: async () => end('It was stopped.'),
  } as Partial<SandboxInstance> as SandboxInstance
  return { instance, end: () => end('It was killed.') }
}

function createLifecycle() {
  const events: string[] = []
  const lifecycle = createSandboxLifecycle(
    {
      onStopping: (_, stopping) => void events.push(stopping ? 'stopping' : 'not stopping'),
      onStopped: async () => void events.push('stopped'),
      onEnded: (_, reason) => void events.push(reason),
      onCount: (count) => void events.push(`${count} running`),
    },
    { stopMs: 10_000, log: silentLog },
  )
  const start = (open: () => Promise<SandboxInstance>) => lifecycle.start(id, runtime, ({ launch }) => launch(open))
  return { lifecycle, events, start }
}

test('a sandbox is busy while it starts', async () => {
  const { lifecycle, start } = createLifecycle()
  const opened = Promise.withResolvers<SandboxInstance>()
  const starting = start(() => opened.promise)
  await expect(start(async () => createInstance().instance)).rejects.toEqual(busy)
  await expect(lifecycle.copyFiles(id, runtime, async () => {})).rejects.toEqual(busy)
  await expect(lifecycle.replaceFiles(id, async () => {})).rejects.toEqual(busy)
  expect(() => lifecycle.get(id)).toThrow(notRunning)
  expect(lifecycle.findIdle(id)).toBeUndefined()

  const { instance } = createInstance()
  opened.resolve(instance)
  await starting
  expect(lifecycle.get(id)).toBe(instance)
  expect(lifecycle.findIdle(id)).toMatchObject({ id, runtime })
})

test('a running sandbox is not started again, and its files are copied, but not replaced', async () => {
  const { lifecycle, start } = createLifecycle()
  const { instance, end } = createInstance()
  await start(async () => instance)
  await expect(start(async () => createInstance().instance)).rejects.toEqual(busy)
  expect(await lifecycle.copyFiles(id, runtime, async (_, running) => running)).toBe(instance)
  expect(await lifecycle.copyFiles(id, 'other', async (_, running) => running)).toBeUndefined()
  await expect(lifecycle.replaceFiles(id, async () => 'replaced')).rejects.toEqual(busy)

  end()
  await eventually(() => expect(lifecycle.list()).toEqual([]))
  expect(await lifecycle.replaceFiles(id, async () => 'replaced')).toBe('replaced')
  expect(await lifecycle.copyFiles(id, runtime, async (_, running) => running)).toBeUndefined()
})

test('a sandbox that failed to start may be started again', async () => {
  const { lifecycle, start } = createLifecycle()
  await expect(start(() => Promise.reject(new Error('no capacity')))).rejects.toThrow('no capacity')
  const { instance } = createInstance()
  await start(async () => instance)
  expect(lifecycle.get(id)).toBe(instance)
})

test('a start that was abandoned keeps the sandbox busy until its instance has ended', async () => {
  const { lifecycle, start, events } = createLifecycle()
  const opened = Promise.withResolvers<SandboxInstance>()
  const starting = lifecycle.start(id, runtime, async ({ launch }) => {
    void launch(() => opened.promise)
    throw new Error('It took too long.')
  })
  await expect(starting).rejects.toThrow('It took too long.')
  const startAgain = () => start(async () => createInstance().instance)
  await expect(startAgain()).rejects.toEqual(busy)
  await expect(lifecycle.replaceFiles(id, async () => {})).rejects.toEqual(busy)

  const { instance, end } = createInstance()
  opened.resolve(instance)
  await expect(startAgain()).rejects.toEqual(busy)
  expect(lifecycle.list()).toEqual([])
  end()
  await instance.ended
  await startAgain()
  expect(events).toEqual(['1 running'])
})

test('a sandbox that ends while it stops is reported as stopped only', async () => {
  const { lifecycle, start, events } = createLifecycle()
  const { instance } = createInstance()
  await start(async () => instance)
  await lifecycle.stop(id)
  expect(events).toEqual(['1 running', 'stopping', '0 running', 'stopped'])
  expect(() => lifecycle.get(id)).toThrow(notRunning)
})

test('a sandbox that ends by itself is reported with the reason', async () => {
  const { start, events } = createLifecycle()
  const { instance, end } = createInstance()
  await start(async () => instance)
  end()
  await eventually(() => expect(events).toEqual(['1 running', '0 running', 'It was killed.', 'stopped']))
})

test('a sandbox that could not be stopped still runs', async () => {
  const { lifecycle, start, events } = createLifecycle()
  const { instance } = createInstance()
  instance.stop = () => Promise.reject(new Error('stuck'))
  await start(async () => instance)
  await expect(lifecycle.stop(id)).rejects.toThrow('stuck')
  expect(lifecycle.get(id)).toBe(instance)
  expect(events).toEqual(['1 running', 'stopping', 'not stopping'])
})
