import { expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { SandboxId } from '#shared/ids.ts'
import { until } from '#test/support/assertions/eventually.ts'
import type { HostCall } from '../host/hostCalls.ts'
import type { SandboxRecord } from '../sandboxes/sandboxRepository.ts'
import { createIdlePolicy } from './idlePolicy.ts'
import { createSandboxUse } from './sandboxUse.ts'

const id = SandboxId.parse('ab'.repeat(16))
const minutes = (count: number): number => count * 60_000

/** Creates one running sandbox that stops after ten idle minutes, with a fake clock and fake terminals. */
function setting() {
  let nowMs = minutes(100)
  let looks = 0
  const terminals: { state: string }[] = []
  const stopped: SandboxId[] = []
  const record = { id, status: 'running', idleMinutes: 10, startedAtMs: nowMs } as SandboxRecord
  const use = createSandboxUse(() => nowMs)
  const policy = createIdlePolicy({
    async listAll() {
      looks += 1
      return [record]
    },
    use,
    sandboxes: {
      async stopIdle(idle, isIdle) {
        if (isIdle(record)) stopped.push(idle)
        record.status = 'stopped'
      },
    },
    // called only to list terminals
    call: (async () => ({ result: { terminals }, body: Buffer.alloc(0) })) as unknown as HostCall,
    everyMs: 1,
    runningMs: () => nowMs,
    log: silentLog,
  })
  policy.start()
  return {
    record,
    use,
    terminals,
    stopped,
    close: policy.close,
    /** Advances the clock and waits for at least one full check. */
    async after(ms: number) {
      nowMs += ms
      const before = looks
      await until('a look', async () => looks > before + 1)
    },
  }
}

test('stops a sandbox after its configured idle time', async () => {
  const policy = setting()
  await policy.after(minutes(9.9))
  expect(policy.stopped).toEqual([])
  policy.use.recordUse(id)
  await policy.after(minutes(9.9))
  expect(policy.stopped).toEqual([])
  await policy.after(minutes(0.2))
  expect(policy.stopped).toEqual([id])
  policy.close()
})

test('never stops a sandbox without an idle policy or with a running terminal', async () => {
  const policy = setting()
  policy.record.idleMinutes = null
  await policy.after(minutes(1000))
  policy.record.idleMinutes = 10
  policy.terminals.push({ state: 'exited' }, { state: 'running' })
  await policy.after(minutes(1000))
  expect(policy.stopped).toEqual([])
  policy.terminals.pop()
  await policy.after(minutes(9))
  expect(policy.stopped).toEqual([])
  await policy.after(minutes(2))
  expect(policy.stopped).toEqual([id])
  policy.close()
})

test('counts a running call as use until it ends', async () => {
  const policy = setting()
  const running = Promise.withResolvers<never>()
  const call = policy.use.trackCall((() => running.promise) as unknown as HostCall)
  const exec = call('machine.exec', { sandboxId: id, command: 'make', timeoutMs: 1 }).catch(() => {})
  await policy.after(minutes(500))
  expect(policy.stopped).toEqual([])
  running.reject(new Error('It failed.'))
  await exec
  await policy.after(minutes(9))
  expect(policy.stopped).toEqual([])
  await policy.after(minutes(2))
  expect(policy.stopped).toEqual([id])
  policy.close()
})

test('does not count status queries as use of a sandbox', async () => {
  const policy = setting()
  const call = policy.use.trackCall((async () => ({ result: {}, body: Buffer.alloc(0) })) as unknown as HostCall)
  await policy.after(minutes(9))
  await call('machine.usage', { sandboxId: id })
  await call('terminal.list', { sandboxId: id })
  await policy.after(minutes(2))
  expect(policy.stopped).toEqual([id])
  policy.close()
})

test('stops other sandboxes when one fails to stop or hangs', async () => {
  const ids = ['0a', '0b', '0c'].map((pair) => SandboxId.parse(pair.repeat(16)))
  const [failing, slow, otherId] = ids
  const all = ids.map((id) => ({ id, status: 'running', idleMinutes: 10, startedAtMs: 0 }) as SandboxRecord)
  const tries: SandboxId[] = []
  const pendingStop = Promise.withResolvers<void>()
  let nowMs = 0
  const policy = createIdlePolicy({
    listAll: async () => all,
    use: createSandboxUse(() => nowMs),
    sandboxes: {
      async stopIdle(idle) {
        tries.push(idle)
        if (idle === failing) throw new Error('It does not stop.')
        if (idle === slow) await pendingStop.promise
        for (const record of all) if (record.id === idle) record.status = 'stopped'
      },
    },
    // called only to list terminals
    call: (async () => ({ result: { terminals: [] }, body: Buffer.alloc(0) })) as unknown as HostCall,
    everyMs: 1,
    runningMs: () => nowMs,
    log: silentLog,
  })
  policy.start()
  nowMs = minutes(11)
  await until('the failing one was tried again', async () => tries.filter((it) => it === failing).length > 1)
  expect(tries.filter((it) => it === otherId)).toHaveLength(1)
  expect(tries.filter((it) => it === slow)).toHaveLength(1)
  policy.close()
  pendingStop.resolve()
})
