import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { lstat, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { ImageName } from '#shared/contract/images.ts'
import { testRuntime } from '../support/fixtures/bubblewrapSandboxes.ts'
import { bash, createTar, type Member, programHead } from '../support/fixtures/imageArchives.ts'
import { never } from '../support/fixtures/sandboxSpecs.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

/** Import of valid and hostile archives. */
const data = temporaryFolder('archives')
const images = testRuntime({
  folder: join(data, 'machines'),
  imagesFolder: join(data, 'images'),
  log: silentLog,
  now: Date.now,
}).images
const name = ImageName.parse('tried')
const root = join(data, 'images', name, 'root')
const outside = join(data, 'outside')
let files = 0

async function add(archive: Buffer) {
  files += 1
  const path = join(data, `${files}.tar`)
  writeFileSync(path, archive)
  return images.add({ name, source: { kind: 'archive', path }, onProgress: () => {} }, never)
}
const content = (path: string) => readFile(join(root, path), 'utf8')

beforeAll(() => {
  mkdirSync(outside)
  writeFileSync(join(outside, 'secret'), 'of the host')
})
afterAll(() => images.remove(name))

describe('valid archives', () => {
  test('with layers: uses the topmost copy of each file and applies deletions', async () => {
    const lower = await createTar([
      bash,
      { name: 'etc', type: 'directory' },
      ...['kept', 'changed', 'removed'].map((it): Member => ({ name: `etc/${it}`, content: 'lower' })),
      { name: 'hidden', type: 'directory' },
      { name: 'hidden/lower', content: 'lower' },
      { name: 'gone', type: 'directory' },
      { name: 'gone/file', content: 'lower' },
      { name: 'usr/bin/sudo', mode: 0o4755, uid: 0, gid: 42, content: 'program' },
    ])
    const upper = await createTar([
      { name: 'etc/changed', content: 'upper' },
      { name: 'etc/.wh.removed', content: '' },
      { name: 'hidden/upper', content: 'upper' },
      { name: 'hidden/.wh..wh..opq', content: '' },
      { name: '.wh.gone', content: '' },
      { name: 'etc/again', type: 'link', linkname: 'etc/kept' },
      { name: 'etc/link', type: 'symlink', linkname: '/nowhere' },
      { name: 'dev/null', type: 'character-device', devmajor: 1, devminor: 3 },
    ])
    const archive = await dockerArchive([lower, gzipSync(upper)], {
      Env: ['PATH=/opt/bin:/bin', 'SECRET=x'],
      Cmd: ['sleep'],
    })
    const added = await add(archive)
    expect(added.detail).toMatch(/^The image tried:1 from .*\. Ignored settings: Cmd\.$/)
    expect(readdirSync(join(root, 'etc')).sort()).toEqual(['again', 'changed', 'kept', 'link'])
    expect([await content('etc/changed'), await content('etc/again')]).toEqual(['upper', 'lower'])
    expect(readdirSync(join(root, 'hidden'))).toEqual(['upper'])
    expect(existsSync(join(root, 'gone'))).toBe(false)
    expect(readdirSync(join(root, 'dev'))).toEqual([])
    const program = await lstat(join(root, 'usr/bin/sudo'))
    expect([program.mode & 0o7777, program.gid]).toEqual([0o4755, 42])
    await images.remove(name)
    expect(readdirSync(join(data, 'images'))).toEqual([])
  })

  test('in OCI format with zstd: are checked against their digests', async () => {
    const layer = await createTar([bash, { name: 'etc/made', content: 'yes' }])
    await add(await ociArchive(zstdCompressSync(layer)))
    expect(await content('etc/made')).toBe('yes')
    await images.remove(name)
    const wrong = ociArchive(gzipSync(layer), createHash('sha256').update('other').digest('hex'))
    await expect(add(await wrong)).rejects.toMatchObject({ code: 'image/failed' })
  })

  test('of a root file system: are accepted with or without compression', async () => {
    for (const pack of [(tar: Buffer) => tar, gzipSync, zstdCompressSync]) {
      await add(
        pack(
          await createTar([
            { ...bash, name: './usr/bin/bash' },
            { name: './etc/.wh.name', content: 'plain' },
          ]),
        ),
      )
      expect(await content('etc/.wh.name')).toBe('plain')
      await images.remove(name)
    }
  })
})

test('accepts bash behind a chain of links with a loader from the image', async () => {
  const loader = { name: 'lib/ld-own.so', mode: 0o755, content: programHead() }
  await add(
    await createTar([
      { name: 'bin/bash', type: 'symlink', linkname: '/opt/shell' },
      { name: 'opt/shell', type: 'symlink', linkname: '../../../opt/bash' },
      { name: 'opt/bash', mode: 0o755, content: programHead({ interpreter: '/lib/ld-own.so' }) },
      loader,
    ]),
  )
  await images.remove(name)
})

describe('a rejected archive leaves nothing inside or outside the image folder', () => {
  const far = join(outside, 'written')
  const cases: [what: string, archive: () => Promise<Buffer>, message: RegExp][] = [
    ['an absolute path', () => createTar([bash, { name: far, content: 'x' }]), /absolute path/],
    ['a way out', () => createTar([bash, { name: 'etc/../../../written', content: 'x' }]), /points outside/],
    [
      'a hard link to outside',
      () => createTar([bash, { name: 'secret', type: 'link', linkname: '../../../outside/secret' }]),
      /points outside/,
    ],
    [
      'a hard link to what a link leads to',
      () =>
        createTar([
          bash,
          { name: 'out', type: 'symlink', linkname: outside },
          { name: 'secret', type: 'link', linkname: 'out/secret' },
        ]),
      /is inconsistent/,
    ],
    ['a user that no machine has', () => createTar([bash, { name: 'mine', uid: 70_000, content: 'x' }]), /70000/],
    ['no bash', () => createTar([{ name: 'bin/sh', mode: 0o755, content: 'x' }]), /has no bash/],
    ['a folder for bash', () => createTar([{ name: 'bin/bash', type: 'directory' }]), /has no bash/],
    ['a bash that nobody may run', () => createTar([{ ...bash, mode: 0o644 }]), /has no bash/],
    [
      'a bash on the host',
      () => createTar([{ name: 'bin/bash', type: 'symlink', linkname: '/proc/1/exe' }]),
      /has no bash/,
    ],
    [
      'a bash that leads to itself',
      () => createTar([{ name: 'bin/bash', type: 'symlink', linkname: 'bash' }]),
      /has no bash/,
    ],
    [
      'a script for bash',
      () => createTar([{ ...bash, content: '#!/bin/sh\n' }]),
      /bash of the image is not a Linux program/,
    ],
    [
      'a bash that was cut off',
      () => createTar([{ ...bash, content: programHead().subarray(0, 40) }]),
      /not a Linux program/,
    ],
    [
      'a bash for other processors',
      () => createTar([{ ...bash, content: programHead({ architecture: process.arch === 'x64' ? 'arm64' : 'x64' }) }]),
      /is not built for (x64|arm64)/,
    ],
    [
      'a bash without what loads it',
      () => createTar([{ ...bash, content: programHead({ interpreter: '/lib/ld-none.so' }) }]),
      /bash of the image requires \/lib\/ld-none\.so, which is missing/,
    ],
    [
      'a file of eight terabytes',
      async () => dockerArchive([withSize(await createTar([{ name: 'bomb', content: '' }]), 8 * 1024 ** 4)], {}),
      /not enough disk space/,
    ],
    ['a sparse file', async () => withType(await createTar([{ name: 'sparse', content: '' }]), 'S'), /sparse/],
    [
      'an end in the middle',
      async () => (await createTar([bash, { name: 'big', content: 'x'.repeat(9_000) }])).subarray(0, 4_000),
      /incomplete/,
    ],
    ['a gzip that ends too early', async () => gzipSync(await createTar([bash])).subarray(0, 60), /incomplete/],
    ['xz', async () => Buffer.from('fd377a585a000000', 'hex'), /compressed with xz/],
    ['something else', async () => Buffer.from('no archive at all'.repeat(100)), /not a tar archive/],
    ['a missing layer', () => dockerArchive([Buffer.alloc(0)], {}, ['none.tar']), /none\.tar" is missing/],
    [
      'two images',
      () => createTar([{ name: 'manifest.json', content: JSON.stringify([manifest, manifest]) }]),
      /contains 2 images/,
    ],
  ]

  test.each(cases)('%s', async (_, archive, message) => {
    await expect(add(await archive())).rejects.toMatchObject({
      code: expect.stringMatching(/^(image\/failed|file\/no-space)$/),
      message: expect.stringMatching(message),
    })
    expect(readdirSync(join(data, 'images'))).toEqual([])
    expect(readdirSync(outside)).toEqual(['secret'])
  })

  test('follows a link only inside the image', async () => {
    await add(
      await createTar([
        bash,
        { name: 'way', type: 'symlink', linkname: outside },
        { name: 'up', type: 'symlink', linkname: '../../../../../..' },
        { name: 'way/written', content: 'in the image' },
        { name: `up${outside}/also`, content: 'in the image' },
        { name: 'way/secret', type: 'link', linkname: 'way/written' },
      ]),
    )
    expect(readdirSync(outside)).toEqual(['secret'])
    expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('of the host')
    expect(readdirSync(join(root, outside)).sort()).toEqual(['also', 'secret', 'written'])
    await images.remove(name)
  })
})

const manifest = { Config: 'config.json', RepoTags: ['tried:1'], Layers: [] }

function dockerArchive(
  layers: readonly Buffer[],
  config: unknown,
  names = layers.map((_, index) => `${index}/layer.tar`),
) {
  return createTar([
    ...layers.map((layer, index): Member => ({ name: `${index}/layer.tar`, content: layer })),
    { name: 'config.json', content: JSON.stringify({ config }) },
    { name: 'manifest.json', content: JSON.stringify([{ ...manifest, Layers: names }]) },
  ])
}

function ociArchive(layer: Buffer, claimed?: string): Promise<Buffer> {
  const blobs: Member[] = []
  const blob = (bytes: Buffer, as?: string) => {
    const digest = as ?? createHash('sha256').update(bytes).digest('hex')
    blobs.push({ name: `blobs/sha256/${digest}`, content: bytes })
    return { digest: `sha256:${digest}`, size: bytes.length }
  }
  const json = (value: unknown) => blob(Buffer.from(JSON.stringify(value)))
  const described = json({ config: json({ config: null }), layers: [blob(layer, claimed)] })
  return createTar([
    { name: 'oci-layout', content: '{"imageLayoutVersion":"1.0.0"}' },
    ...blobs,
    { name: 'index.json', content: JSON.stringify({ manifests: [described] }) },
  ])
}

/** Sets the size in base-256 encoding. @see https://www.gnu.org/software/tar/manual/html_node/Standard.html */
function withSize(tar: Buffer, size: number): Buffer {
  tar.writeUInt8(0x80, 124)
  tar.writeUIntBE(size, 130, 6)
  return addChecksum(tar)
}

function withType(tar: Buffer, type: string): Buffer {
  tar.write(type, 156, 'latin1')
  return addChecksum(tar)
}

function addChecksum(tar: Buffer): Buffer {
  tar.write(' '.repeat(8), 148, 'latin1')
  const sum = tar.subarray(0, 512).reduce((total, byte) => total + byte, 0)
  tar.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return tar
}
