import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { eventually, until } from '#test/support/assertions/eventually.ts'
import { isAlive } from '#test/support/assertions/processes.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { silentLog } from '../logging/log.ts'
import { superviseChild } from './childSupervisor.ts'

/** Prints its pid when ready and exits when stdin ends. */
const obedient = 'console.log(process.pid); process.stdin.resume().on("end", () => process.exit(0))'

function supervise(script: string, limits = {}) {
  const pids: number[] = []
  const downs: string[] = []
  const supervisor = superviseChild({
    name: 'The child',
    spawn: () => spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] }),
    parseReady: (line) => (/^\d+$/.test(line) ? Number(line) : undefined),
    onReady: (pid) => pids.push(pid),
    onDown: (reason) => downs.push(reason),
    now: Date.now,
    refuses: (exitCode) => exitCode === 3,
    log: silentLog,
    limits,
  })
  onTestFinished(() => supervisor.close())
  return { supervisor, pids, downs }
}

test('restarts a killed child', async () => {
  const { supervisor, pids, downs } = supervise(obedient)
  const first = await supervisor.started
  process.kill(first, 'SIGKILL')
  const second = await until('the second run', () => pids[1])
  expect(second).not.toBe(first)
  expect(downs).toEqual(['The child was killed by SIGKILL and is restarting.'])
  await supervisor.close()
  expect(isAlive(second)).toBe(false)
})

test('restarts a first run that crashes like later runs', async () => {
  const runs = join(temporaryFolder('runs'), 'runs')
  const script = `
    const { appendFileSync, readFileSync } = require('node:fs')
    appendFileSync(${JSON.stringify(runs)}, '.')
    if (readFileSync(${JSON.stringify(runs)}, 'utf8').length < 3) process.exit(1)
    ${obedient}`
  const { supervisor, pids, downs } = supervise(script)
  const pid = await supervisor.started
  expect(pids).toEqual([pid])
  expect(downs).toEqual(Array(2).fill('The child exited with code 1 and is restarting.'))
})

test('stops restarting a child that crashes at every start', async () => {
  const { supervisor, downs } = supervise('process.exit(1)', { startAttempts: 2 })
  await expect(supervisor.started).rejects.toThrow('The child exited with code 1.')
  expect(downs.length).toBeGreaterThanOrEqual(1)
})

test('reports how the first run ended when the child refuses to start, and retries', async () => {
  const { supervisor, downs } = supervise('process.exit(3)')
  await expect(supervisor.started).rejects.toThrow('The child exited with code 3.')
  await eventually(() => expect(downs.length).toBeGreaterThan(2))
})

test('kills a child that is not ready in time', async () => {
  const { supervisor } = supervise('process.stdin.resume()', { readyMs: 200, startAttempts: 1 })
  await expect(supervisor.started).rejects.toThrow('The child was not ready within 0.2 s.')
})

test('kills a child that does not exit on request', async () => {
  const stubborn = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log(process.pid)'
  const { supervisor } = supervise(stubborn, { endMs: 200 })
  const pid = await supervisor.started
  await supervisor.close()
  expect(isAlive(pid)).toBe(false)
})

test('reports a program that does not exist', async () => {
  const supervisor = superviseChild({
    name: 'The child',
    spawn: () => spawn('/nowhere/program', { stdio: ['pipe', 'pipe', 'inherit'] }),
    parseReady: () => undefined,
    onReady: () => {},
    onDown: () => {},
    refuses: () => false,
    now: Date.now,
    log: silentLog,
  })
  onTestFinished(() => supervisor.close())
  await expect(supervisor.started).rejects.toThrow('could not be started')
})
