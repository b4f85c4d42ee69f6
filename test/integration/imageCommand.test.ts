import { readdirSync } from 'node:fs'
import { truncate, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../support/assertions/eventually.ts'
import { tinyImage } from '../support/fixtures/imageArchives.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { startProgram } from '../support/processes/program.ts'

const image = (data: string, ...parts: string[]) =>
  startProgram('scripts/start.js', ['image', ...parts, '--data', data])
const outcome = async (data: string, ...parts: string[]) => {
  const program = image(data, ...parts)
  const { code } = await program.ended
  return { code, stdout: program.stdout(), stderr: program.stderr() }
}

test('adds, lists and removes images without a running Steward', async () => {
  const data = temporaryFolder('data')
  const archive = await tinyImage(temporaryFolder('archive'))
  expect(await outcome(data, 'list')).toEqual({ code: 0, stdout: 'No images.\n', stderr: '' })

  const added = await outcome(data, 'add', 'tiny', '--from', archive)
  expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining('Unpacking') })
  expect(added.stdout).toBe(`The image tiny is ready (0 MB): The files from ${basename(archive)}.\n`)
  expect(await outcome(data, 'add', 'tiny', '--from', archive)).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringContaining('The image `tiny` already exists.'),
  })
  const listed = await outcome(data, 'list', '--json')
  expect(JSON.parse(listed.stdout)).toMatchObject({ event: 'images', images: [{ name: 'tiny', status: 'ready' }] })

  expect((await outcome(data, 'remove', 'tiny')).stdout).toBe('Removed the image tiny.\n')
  expect(await outcome(data, 'remove', 'tiny')).toMatchObject({ code: 3, stdout: '' })
  expect(readdirSync(join(data, 'host/images'))).toEqual([])
})

test('removes a partial image on Ctrl-C', async () => {
  const data = temporaryFolder('data')
  const archive = join(temporaryFolder('archive'), 'endless.tar')
  // A sparse file takes no disk space, but minutes to read.
  await writeFile(archive, '')
  await truncate(archive, 64 * 1024 ** 3)
  const adding = image(data, 'add', 'endless', '--from', archive)
  await until('it to have begun', () => adding.stderr().includes('Reading the archive'))
  expect(await adding.end('SIGINT')).toEqual({ code: 3, signal: null })
  expect(adding.stderr()).toContain('Cancelled adding the image endless. Nothing was added.')
  expect(readdirSync(join(data, 'host/images'))).toEqual([])
})
