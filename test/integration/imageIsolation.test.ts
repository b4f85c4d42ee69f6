import { existsSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxInstance } from '#host/runtimes/sandboxRuntime.ts'
import { silentLog } from '#platform/logging/log.ts'
import { ImageName } from '#shared/contract/images.ts'
import { testRuntime } from '../support/fixtures/bubblewrapSandboxes.ts'
import { hostRootTar } from '../support/fixtures/hostRootTar.ts'
import { createSandboxSpec, never, run } from '../support/fixtures/sandboxSpecs.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

describe('a process in a sandbox with an image', () => {
  const data = temporaryFolder('image-isolation')
  const runtime = testRuntime({ folder: join(data, 'machines'), log: silentLog, now: Date.now })
  const image = ImageName.parse('small')
  let instance: SandboxInstance
  let neighbour: SandboxInstance

  const expectRefusal = async (command: string): Promise<void> => {
    const outcome = await instance.exec({ command, timeoutMs: 120_000, signal: never })
    expect(outcome.exitCode, `${command} succeeded: ${outcome.stdout.toString()}`).not.toBe(0)
  }
  const maps = async (target: SandboxInstance): Promise<number[]> =>
    (await run(target, 'cat /proc/self/uid_map')).trim().split(/\s+/).map(Number)

  beforeAll(async () => {
    writeFileSync(join(data, 'secret'), 'of the host')
    const source = { kind: 'archive', path: await hostRootTar(data) } as const
    await runtime.images.add({ name: image, source, onProgress: () => {} }, never)
    instance = await runtime.create(createSandboxSpec({ image }), never)
    neighbour = await runtime.create(createSandboxSpec({ image, hostname: 'neighbour' }), never)
  })
  afterAll(async () => {
    for (const target of [instance, neighbour]) {
      await target?.stop()
      if (target) await runtime.remove(target.id)
    }
    await runtime.images.remove(image)
  })

  test('is not root of the host and shares no user with another sandbox', async () => {
    const [first = [], second = []] = await Promise.all([instance, neighbour].map(maps))
    for (const [inside, outside, count] of [first, second]) {
      expect([inside, outside === 0]).toEqual([0, false])
      expect(count === 65_536 || process.getuid?.() !== 0).toBe(true)
    }
    if (process.getuid?.() === 0) expect(Math.abs((first[1] ?? 0) - (second[1] ?? 0))).toBeGreaterThanOrEqual(65_536)
  })

  test('has the capabilities of a container only in its own user namespace', async () => {
    const status = await run(instance, 'cat /proc/self/status')
    for (const set of ['CapPrm', 'CapEff', 'CapBnd']) expect(status).toMatch(new RegExp(`${set}:\\s+00000000a00405fb`))
    expect(status).toMatch(/NoNewPrivs:\s+1/)
    expect(await run(instance, 'cat /proc/1/status')).toMatch(/CapEff:\s+0000000000000000/)
    for (const command of ['unshare --user true', 'unshare --mount true', 'unshare --net true'])
      await expectRefusal(command)
  })

  test('cannot reach the host kernel, host files or its own image layers', async () => {
    const pattern = await readFile('/proc/sys/kernel/core_pattern', 'utf8')
    await expectRefusal('echo evil > /proc/sys/kernel/core_pattern')
    await expectRefusal('umount /proc/sys || mount -o remount,rw /proc/sys')
    await expectRefusal('mount -t tmpfs none /mnt')
    await expectRefusal('mount --bind / /mnt')
    await expectRefusal('mknod /tmp/disk b 8 0')
    await expectRefusal('mknod /tmp/memory c 1 1')
    await expectRefusal('head -c1 /dev/mem')
    await expectRefusal(`cat ${join(data, 'secret')} /proc/1/root${join(data, 'secret')}`)
    await expectRefusal('ls /tmp/upper /tmp/image /image /upper /oldroot')
    await expectRefusal(`kill -0 ${process.pid}`)
    expect(await readFile('/proc/sys/kernel/core_pattern', 'utf8')).toBe(pattern)
  })

  test('changes nothing in another sandbox or in the image', async () => {
    await run(
      instance,
      'echo evil > /usr/bin/env; rm /usr/bin/sort; setfattr -n user.overlay.opaque -v y /usr 2>/dev/null; chmod 6777 /usr/bin/id',
    )
    expect(await run(neighbour, 'env echo same; command -v sort; stat -c %a /usr/bin/id')).toMatch(
      /^same\n.*\/sort\n755\n$/,
    )
    const root = join(data, 'machines/images/small/root')
    expect(existsSync(join(root, 'usr/bin/sort'))).toBe(true)
    expect((await readFile(join(root, 'usr/bin/env'))).subarray(0, 4).toString('latin1')).toBe('\x7fELF')
  })
})
