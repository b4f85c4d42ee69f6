import { execFile } from 'node:child_process'
import { copyFile, cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { hostRootTar } from '../fixtures/hostRootTar.ts'

const run = promisify(execFile)

/** Names that a runtime may use inside the sandbox and that an image can occupy. */
const namesOfInits = [
  'init',
  'sbin/init',
  'usr/sbin/init',
  'usr/bin/sh',
  'usr/bin/dash',
  'run/init',
  'run/steward/init',
]

/**
 * Creates an archive in which bash, sh and init are replaced by a hostile program, and every program loads a hostile
 * library.
 */
export async function imageOfHostilePrograms(folder: string): Promise<string> {
  const programsFolder = join(folder, 'programs')
  const shell = join(folder, 'shell')
  await compileHere('hostileShell', shell, ['-static'])
  const copyProgram = async (name: string, from: string): Promise<void> => {
    await mkdir(dirname(join(programsFolder, name)), { recursive: true })
    await copyFile(from, join(programsFolder, name))
  }
  await copyProgram('usr/bin/real-bash', '/usr/bin/bash')
  for (const name of ['usr/bin/bash', ...namesOfInits]) await copyProgram(name.replace(/^sbin/, 'usr/sbin'), shell)
  await mkdir(join(programsFolder, 'opt'), { recursive: true })
  await mkdir(join(programsFolder, 'etc'), { recursive: true })
  await compileHere('preload', join(programsFolder, 'opt/attack.so'), ['-shared', '-fPIC'])
  await writeFile(join(programsFolder, 'etc/ld.so.preload'), '/opt/attack.so\n')
  await writeFile(join(programsFolder, 'etc/ld.so.cache'), Buffer.alloc(64 * 1024, 'glibc-ld.so.cache1.1'))
  return archiveWith(folder, programsFolder)
}

/** Creates an archive whose mount points and settings are links to `outside` on the host. */
export async function imageOfLinks(folder: string, outside: string): Promise<string> {
  const linksFolder = join(folder, 'links')
  await mkdir(join(linksFolder, 'etc'), { recursive: true })
  for (const name of ['run', 'proc', 'dev', 'sys', 'tmp', 'image', 'upper', 'work', 'oldroot', 'newroot'])
    await symlink(outside, join(linksFolder, name))
  for (const name of ['hosts', 'hostname', 'resolv.conf'])
    await symlink(`${outside}/file`, join(linksFolder, 'etc', name))
  return archiveWith(folder, linksFolder)
}

/** Appends the members of `own` last, so that they replace earlier ones of the same name. */
async function archiveWith(folder: string, linksFolder: string): Promise<string> {
  const tar = await hostRootTar(folder)
  const archive = `${linksFolder}.tar`
  await cp(tar, archive)
  const names = (await run('find', ['.', '!', '-type', 'd'], { cwd: linksFolder })).stdout.trim().split('\n')
  await run('tar', ['--append', '--file', archive, '--directory', linksFolder, '--owner=0', '--group=0', ...names])
  return archive
}

async function compileHere(source: string, to: string, how: readonly string[]): Promise<void> {
  await run('gcc', ['-w', ...how, '-o', to, new URL(`${source}.c`, import.meta.url).pathname])
}
