import { execFileSync, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { until } from '#test/support/assertions/eventually.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { buildFirstProcess } from './firstProcess.ts'

const assemblers = { x64: 'x86_64-linux-gnu-', arm64: 'aarch64-linux-gnu-' } as const

describe('the first process of a sandbox', () => {
  test.each(['x64', 'arm64'] as const)('matches its assembled source on %s', (architecture) => {
    const folder = temporaryFolder('first')
    const [object, binary] = ['code.o', 'code.bin'].map((name) => join(folder, name))
    const tools = assemblers[architecture]
    execFileSync(`${tools}as`, ['-o', String(object), join(import.meta.dirname, 'init', `${architecture}.S`)])
    execFileSync(`${tools}objcopy`, ['-O', 'binary', '-j', '.text', String(object), String(binary)])
    expect(buildFirstProcess(architecture)?.subarray(120).toString('hex')).toBe(readFileSync(String(binary), 'hex'))
  })

  test('reports ready, closes its outputs and does nothing else', async () => {
    const path = join(temporaryFolder('first'), 'init')
    writeFileSync(path, buildFirstProcess() ?? '', { mode: 0o755 })
    const child = spawn(path, { stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    child.stdout.on('data', (bytes: Buffer) => {
      said += bytes.toString()
    })
    await until('its outputs to be closed', () => child.stdout.closed && child.stderr.closed)
    expect(said).toBe('ready\n')
    expect(readFileSync(`/proc/${child.pid}/maps`, 'utf8')).not.toContain('.so')
    expect(readFileSync(`/proc/${child.pid}/status`, 'utf8')).toMatch(/SigIgn:\s+0000000000010000/)
    child.kill('SIGKILL')
    await until('its end', () => child.signalCode)
  })

  test('is undefined on other architectures', () => {
    expect(buildFirstProcess('riscv64')).toBeUndefined()
  })
})
