import { execFile } from 'node:child_process'
import { chmod, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { ImageName, type ImageSource } from '#shared/contract/images.ts'
import { testRuntime } from '../support/fixtures/bubblewrapSandboxes.ts'
import { createSandboxSpec, never, run } from '../support/fixtures/sandboxSpecs.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

const execute = promisify(execFile)
/** Includes the download and installation of a whole system. */
const testMs = 900_000

test(
  'packages can be installed in a system image, and the image remains unchanged',
  async (context) => {
    const data = temporaryFolder('system')
    const debs = join(data, 'debs')
    const runtime = testRuntime({ folder: join(data, 'machines'), log: silentLog, now: Date.now })
    const { image_sources, image_detail } = await runtime.describe()
    if (!image_sources.includes('system')) context.skip(`no image of this system can be made here: ${image_detail}`)
    await execute('mkdir', [debs])
    await chmod(data, 0o755)
    const download = execute(
      'apt-get',
      ['-q', '-o', 'APT::Sandbox::User=root', 'download', 'jq', 'libjq1', 'libonig5'],
      {
        cwd: debs,
        timeout: 120_000,
      },
    )
    const unreachable = await download.then(
      () => undefined,
      (error: Error) => error.message,
    )
    if (unreachable !== undefined) context.skip(`no package can be downloaded here: ${unreachable.slice(0, 200)}`)

    const name = ImageName.parse('system')
    const lines: string[] = []
    const source: ImageSource = { kind: 'system', packages: ['less'] }
    const adding = runtime.images.add({ name, source, onProgress: (sentence) => void lines.push(sentence) }, never)
    const image = await adding.catch((error: Error) => {
      if (!/could not be downloaded/.test(error.message)) throw error
      return context.skip(error.message)
    })
    expect(image.detail).toMatch(/ with less, created from the packages of this computer's distribution\.$/)
    expect(lines).toEqual(expect.arrayContaining(['Downloading packages', 'Unpacking packages', 'Installing packages']))
    const before = await digest(data)

    const sandbox = await runtime.create(createSandboxSpec({ image: name }), never)
    const neighbour = await runtime.create(createSandboxSpec({ image: name }), never)
    for (const file of await readdir(debs))
      await sandbox.writeFile(`/root/${file}`, await readFile(join(debs, file)), never)
    await run(
      sandbox,
      'apt-get -q -y install /root/*.deb && rm -r /usr/share/doc /etc/apt && echo evil > /usr/bin/less',
    )
    expect(await run(sandbox, `echo '{"kept": 1}' | jq .kept`)).toBe('1\n')
    expect(await run(neighbour, 'command -v jq || ls -d /etc/apt; less --version | head -1')).toMatch(
      /^\/etc\/apt\nless /,
    )
    expect(await digest(data)).toBe(before)
    for (const target of [sandbox, neighbour]) {
      await target.stop()
      await runtime.remove(target.id)
    }
    await runtime.images.remove(name)
  },
  testMs,
)

/** Hashes names, kinds, owners, modes and contents of all files in the image. */
async function digest(data: string): Promise<string> {
  const list =
    'cd "$1" && { find . -printf "%p %y %U:%G %m %s %T@ %l\\n"; find . -type f -exec sha256sum {} +; } | sort | sha256sum'
  return (await execute('sh', ['-c', list, 'sh', join(data, 'machines/images/system/root')])).stdout
}
