import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { SandboxId } from '#shared/ids.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { listDescendants } from '../support/assertions/processes.ts'
import { findUid, listSandboxResources } from '../support/assertions/sandboxResources.ts'
import { testRuntime } from '../support/fixtures/bubblewrapSandboxes.ts'
import { createSandboxSpec, never, run } from '../support/fixtures/sandboxSpecs.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

const options = (folder: string) => ({ folder, log: silentLog, now: Date.now })

describe('sandbox shutdown', () => {
  test('leaves no process, mount, cgroup, file or file descriptor', async () => {
    const folder = join(temporaryFolder('ends'), 'machines')
    const runtime = testRuntime(options(folder))
    await runtime.describe()
    const openBefore = openFiles()
    const spec = createSandboxSpec()
    const instance = await runtime.create(spec, never)
    const uid = await findUid(folder, spec.id)
    await run(instance, 'mkdir -p /root/closed/inner && touch /root/closed/inner/file && chmod -R 0 /root/closed')
    await run(instance, 'setsid sleep 1000 >/dev/null 2>&1 & (trap "" HUP TERM; sleep 1000) >/dev/null 2>&1 &')
    const terminals = await Promise.all(
      ['bash', 'trap "" HUP; sleep 1000', 'cat'].map((command) =>
        instance.openTerminal({ command, cols: 80, rows: 24 }),
      ),
    )
    for (const terminal of terminals) terminal.onOutput(() => {})
    await instance.stop()
    await Promise.all(terminals.map((terminal) => terminal.ended))
    await runtime.remove(spec.id)
    await eventually(async () => expect(await listSandboxResources({ id: spec.id, folder, uid })).toEqual([]))
    await eventually(() => expect(openFiles()).toBeLessThanOrEqual(openBefore))
  })

  test('follows the exit of its host and the next host preserves its files', async () => {
    const folder = join(temporaryFolder('abandoned'), 'machines')
    const host = spawn(
      process.execPath,
      [join(import.meta.dirname, '../support/processes/abandonedHost.ts'), folder, createSandboxSpec().id],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    const id = SandboxId.parse(await firstLine(host))
    const uid = await findUid(folder, id)
    expect((await listSandboxResources({ id, folder, uid })).length).toBeGreaterThan(1)
    host.kill('SIGKILL')
    await until('the host to end', () => host.signalCode)
    await eventually(async () => {
      const remaining = await listSandboxResources({ id, folder, uid })
      expect(remaining.filter((value) => value !== id && !value.startsWith('/sys/fs/cgroup/'))).toEqual([])
    })

    const runtime = testRuntime(options(folder))
    await runtime.sweep()
    expect(await listSandboxResources({ id, folder, uid })).toEqual([id])
    expect(await runtime.listStored()).toEqual([id])
    const machine = await runtime.start(createSandboxSpec({ id }), never)
    expect(await run(machine, 'cat /root/kept; pgrep -c sleep; true')).toBe('kept\n0\n')
    await machine.stop()
    await runtime.remove(id)
    await eventually(async () => expect(await listSandboxResources({ id, folder, uid })).toEqual([]))
  })

  test('is reported with its reason when unexpected', async () => {
    const folder = join(temporaryFolder('killed'), 'machines')
    const runtime = testRuntime(options(folder))
    const spec = createSandboxSpec()
    const machine = await runtime.create(spec, never)
    const terminal = await machine.openTerminal({ command: 'cat', cols: 80, rows: 24 })
    terminal.onOutput(() => {})
    const { processes } = JSON.parse(await readFile(join(folder, spec.id, 'run.json'), 'utf8'))
    process.kill(processes[1].pid, 'SIGKILL')
    expect(await machine.ended).toBe('The first process of the sandbox was killed.')
    expect(await terminal.ended).toEqual({ exitCode: 137, signal: 'SIGKILL' })
    await machine.stop()
    expect(existsSync(join(folder, spec.id, 'run.json'))).toBe(false)
    const again = await runtime.start(spec, never)
    expect(await run(again, 'echo back')).toBe('back\n')
    await again.stop()
    await runtime.remove(spec.id)
  })

  test('follows the exit of its supervisor process', async () => {
    const folder = join(temporaryFolder('supervisor'), 'machines')
    const runtime = testRuntime(options(folder))
    const spec = createSandboxSpec()
    const machine = await runtime.create(spec, never)
    const uid = await findUid(folder, spec.id)
    await run(machine, 'setsid sleep 1000 >/dev/null 2>&1 &')
    const { processes } = JSON.parse(await readFile(join(folder, spec.id, 'run.json'), 'utf8'))
    process.kill(processes[2].pid, 'SIGKILL')
    expect(await machine.ended).toBe('The sandbox supervisor exited.')
    await runtime.remove(spec.id)
    await eventually(async () => expect(await listSandboxResources({ id: spec.id, folder, uid })).toEqual([]))
  })

  test('does not follow the exit of the spawner and the next sandbox uses another', async () => {
    const folder = join(temporaryFolder('spawner'), 'machines')
    const spawners = () => listDescendants(process.pid).filter(({ command }) => command.startsWith('steward spawner'))
    const others = spawners().map(({ pid }) => pid)
    const runtime = testRuntime(options(folder))
    const machine = await runtime.create(createSandboxSpec(), never)
    const [ownSpawner, another] = spawners().filter(({ pid }) => !others.includes(pid))
    expect(another).toBeUndefined()
    // Leaves no sandbox for later test files if an assertion fails.
    onTestFinished(() => machine.stop('discard').catch(() => {}))
    if (!ownSpawner) throw new Error('No spawner was started.')
    process.kill(ownSpawner.pid, 'SIGKILL')
    await until('the spawner to end', () => spawners().every(({ pid }) => pid !== ownSpawner.pid))
    const next = await runtime.create(createSandboxSpec(), never)
    for (const target of [machine, next]) {
      expect(await run(target, 'echo alive')).toBe('alive\n')
      const terminal = await target.openTerminal({ command: 'tty', cols: 80, rows: 24 })
      terminal.onOutput(() => {})
      expect(await terminal.ended).toEqual({ exitCode: 0, signal: null })
      await target.stop()
      await runtime.remove(target.id)
    }
  })
})

function openFiles(): number {
  return readdirSync('/proc/self/fd').length
}

function firstLine(child: ChildProcess): Promise<string> {
  let text = ''
  child.stdout?.on('data', (bytes: Buffer) => {
    text += bytes.toString()
  })
  return until('the first line', () => {
    if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}.`)
    return text.includes('\n') && text.split('\n')[0]
  })
}
