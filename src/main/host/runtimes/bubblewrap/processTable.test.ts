import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'

/** Runs code in a process group of its own, because an invalid PID addresses the group of the caller. */
async function runInOwnGroup(code: string): Promise<{ output: string; signal: NodeJS.Signals | null }> {
  const args = ['--input-type=module', '--disable-warning=ExperimentalWarning', '--eval', code]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  const [output, [, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return { output, signal }
}

const moduleUrl = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href)

test('signals no process for a PID that addresses a process group', async () => {
  const code = `
    import { kill, sendSignal, signalGroup } from ${moduleUrl('./processTable.ts')}
    const pids = [0, -0, -process.pid, Number.NaN, 1.5, Number('')]
    const results = pids.map((pid) => [kill(pid), sendSignal(pid, 'SIGTERM')])
    const leaders = [0, -process.pid, Number.NaN].map((leader) => signalGroup(leader, 'SIGTERM'))
    console.log([...results.flat(), ...leaders].join(' '))`
  const none = Array(15).fill('false').join(' ')
  expect(await runInOwnGroup(code)).toEqual({ output: `${none}\n`, signal: null })
})

test('signals each process of a group', async () => {
  const child = spawn('/bin/sh', ['-c', 'sleep 600'], { stdio: 'ignore', detached: true })
  const exit = once(child, 'exit')
  const { signalGroup } = await import('./processTable.ts')
  expect(signalGroup(child.pid ?? Number.NaN, 'SIGTERM')).toBe(true)
  expect(await exit).toEqual([null, 'SIGTERM'])
})

test('skips members of a cgroup that are in another PID namespace', async () => {
  const folder = join(temporaryFolder('cgroups'), 'steward-test')
  mkdirSync(folder)
  const members = join(folder, 'cgroup.procs')
  writeFileSync(members, '')
  const code = `
    import { spawn } from 'node:child_process'
    import { rmSync, writeFileSync } from 'node:fs'
    import { removeCgroups } from ${moduleUrl('./cgroups.ts')}
    const member = spawn('sleep', ['600'], { stdio: 'ignore' })
    member.once('exit', () => rmSync(${JSON.stringify(members)}))
    writeFileSync(${JSON.stringify(members)}, \`0\\n\${member.pid}\\n\`)
    await removeCgroups([${JSON.stringify(folder)}])
    console.log('removed')`
  expect(await runInOwnGroup(code)).toEqual({ output: 'removed\n', signal: null })
})
