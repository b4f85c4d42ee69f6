import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { SandboxInstance, SandboxRuntime } from '#host/runtimes/sandboxRuntime.ts'
import { silentLog } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import { ImageName } from '#shared/contract/images.ts'
import { imageOfHostilePrograms, imageOfLinks } from '../support/attacks/hostileImages.ts'
import { testRuntime } from '../support/fixtures/bubblewrapSandboxes.ts'
import { createSandboxSpec, never, run } from '../support/fixtures/sandboxSpecs.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

const image = ImageName.parse('hostile')

describe('a hostile image', () => {
  let data: string
  let runtime: SandboxRuntime
  let sandboxes: SandboxInstance[]

  const startFromArchive = async (archive: string, hostname = 'box'): Promise<SandboxInstance> => {
    if (sandboxes.length === 0) {
      const source = { kind: 'archive', path: archive } as const
      await runtime.images.add({ name: image, source, onProgress: () => {} }, never)
    }
    const instance = await runtime.create(createSandboxSpec({ image, hostname }), never)
    sandboxes.push(instance)
    return instance
  }

  beforeEach(() => {
    data = temporaryFolder('hostile-image')
    runtime = testRuntime({ folder: join(data, 'machines'), log: silentLog, now: Date.now })
    sandboxes = []
  })
  afterEach(async () => {
    for (const machine of sandboxes) {
      await machine.stop('discard')
      await runtime.remove(machine.id)
    }
    await runtime.images.remove(image)
  })

  test('has none of its programs run in PID 1 and all of them confined', async () => {
    const machine = await startFromArchive(await imageOfHostilePrograms(data))
    const ran = (await run(machine, 'cd /root && ls')).trim().split('\n')
    expect(ran).not.toContain('in-pid1')
    expect(ran).not.toContain('ran-as-1')
    const notes = ran.filter((name) => name.startsWith('ran-as-'))
    expect(notes.length, `no shell of the image ran: ${ran}`).toBeGreaterThan(0)
    for (const line of notes) {
      const status = await run(machine, `cat /root/${line}`)
      expect(status, line).toMatch(/^Seccomp:\t2$/m)
      expect(status, line).toMatch(/^NoNewPrivs:\t1$/m)
      expect(status, line).toMatch(/^CapEff:\t00000000a00405fb$/m)
      expect(status.trim().split('\n').at(-1), `${line}: further user namespaces`).toBe('0')
    }
    const terminal = await machine.openTerminal({ command: 'tty', cols: 80, rows: 24 })
    let text = ''
    terminal.onOutput((bytes) => {
      text += bytes.toString()
    })
    await terminal.ended
    expect(text).toMatch(/^\/dev\/pts\/\d+\r\n$/)
  })

  test('changes nothing on the host if its folders are links to the host', async () => {
    const outside = join(data, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'file'), 'of the host')
    const archive = await imageOfLinks(data, outside)
    const machine = await startFromArchive(archive).catch((error: unknown) => {
      expect(error).toBeInstanceOf(AppError) // such an image does not have to start
      expect(error).toMatchObject({ code: expect.stringMatching(/^(image\/failed|sandbox\/start-failed)$/) })
    })
    if (machine) {
      expect(await run(machine, 'cat /proc/self/uid_map')).toMatch(/^\s*0\s+[1-9]/)
      expect(await run(machine, `cat ${outside}/file 2>/dev/null || echo none`)).not.toContain('of the host')
      for (const file of ['/etc/hosts', '/etc/resolv.conf', '/tmp/file', '/run/file'])
        await machine.writeFile(file, Buffer.from('evil'), never).catch(() => {})
    }
    expect(readdirSync(outside)).toEqual(['file'])
    expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('of the host')
  })
})
