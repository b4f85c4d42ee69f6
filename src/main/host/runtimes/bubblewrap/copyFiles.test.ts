import { execFileSync } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { copyStorage } from './copyFiles.ts'
import { findHostTools } from './hostTools.ts'

test('does not copy host files through a folder replaced by a link', async () => {
  const tools = await findHostTools()
  if ('missing' in tools) throw new Error(tools.missing)
  const base = temporaryFolder()
  const [host, sandbox, snapshots] = ['host', 'machine', 'machine/snapshots'].map((name) => join(base, name))
  const filesFolder = join(sandbox ?? '', 'files')
  for (const path of [join(host ?? '', 'inner'), join(filesFolder, 'inner'), snapshots ?? '']) {
    await mkdir(path, { recursive: true })
  }
  await writeFile(join(host ?? '', 'inner', 'key'), 'of the host')
  await writeFile(join(filesFolder, 'inner', 'text'), 'of the machine')
  await symlink(host ?? '', join(filesFolder, 'swapped'))
  const copy = (from: string, name: string) => {
    const to = join(snapshots ?? '', name)
    return copyStorage({ from: { kind: 'folder', path: from }, to, tools, signal: new AbortController().signal })
  }

  await expect(copy(join(filesFolder, 'swapped', 'inner'), 'stolen')).rejects.toMatchObject({
    message: 'The files could not be copied.',
    cause: { stderr: expect.stringContaining('No such file or directory') },
  })

  await copy(filesFolder, 'kept')
  expect(await readFile(join(snapshots ?? '', 'kept', 'inner', 'text'), 'utf8')).toBe('of the machine')
})

test('names folders nested too deeply without revealing host paths', async () => {
  const tools = await findHostTools()
  if ('missing' in tools) throw new Error(tools.missing)
  const base = temporaryFolder()
  const filesFolder = join(base, 'files')
  await mkdir(filesFolder)
  const deeper = 'my $name = "d" x 200; for (1 .. 25) { mkdir $name and chdir $name or die $! }'
  execFileSync('perl', ['-e', deeper], { cwd: filesFolder })
  try {
    const from = { kind: 'folder' as const, path: filesFolder }
    const copying = copyStorage({ from, to: join(base, 'copy'), tools, signal: new AbortController().signal })
    await expect(copying).rejects.toMatchObject({
      code: 'snapshot/failed',
      message: 'Folders are nested too deeply: paths in a snapshot must be shorter than about 4,000 bytes.',
      cause: { stderr: expect.stringContaining('File name too long') },
    })
  } finally {
    execFileSync('rm', ['-rf', filesFolder, join(base, 'copy')])
  }
})
