import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '#test/support/assertions/eventually.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { getHostFolder, getHostPidFile } from '../net/hostSocket.ts'
import { smallHeapOptions } from '../program/smallMemory.ts'
import { findHostProcess, isHostStopped, killHostProcess } from './hostProcess.ts'

const waitForever = 'setInterval(() => {}, 1000)'

/** Runs a script with this name and a data folder whose pid file contains its process id. */
async function startNamed(name: string, dataArgument?: string): Promise<{ child: ChildProcess; folder: string }> {
  const folder = temporaryFolder('host-process')
  const script = join(folder, name)
  writeFileSync(script, waitForever)
  mkdirSync(getHostFolder(folder))
  const child = spawn(process.execPath, [...smallHeapOptions, script, '--data', dataArgument ?? folder], {
    stdio: 'ignore',
  })
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  await once(child, 'spawn')
  writeFileSync(getHostPidFile(folder), `${child.pid}\n`)
  return { child, folder }
}

test('finds the host of a folder, detects a stop by signal and ends it', async () => {
  const { child, folder } = await startNamed('host.ts')
  const host = await findHostProcess(folder)
  expect(host?.pid).toBe(child.pid)
  if (!host) return
  expect(await isHostStopped(host)).toBe(false)
  child.kill('SIGSTOP')
  await eventually(async () => expect(await isHostStopped(host)).toBe(true))
  expect(await killHostProcess({ ...host, identity: 'another' })).toBe(false)
  expect(await killHostProcess(host)).toBe(true)
  expect((await once(child, 'exit'))[1]).toBe('SIGKILL')
  expect(await findHostProcess(folder)).toBeUndefined()
})

test('a stale pid file does not identify another program as the host', async () => {
  expect(await findHostProcess((await startNamed('service.ts')).folder)).toBeUndefined()
  expect(await findHostProcess((await startNamed('host.ts', '/elsewhere')).folder)).toBeUndefined()
  expect(await findHostProcess(temporaryFolder('host-process'))).toBeUndefined()
})
