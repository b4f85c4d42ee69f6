import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access, lstat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const large = { maxBuffer: 64 * 1024 * 1024 }
/** Packages that every runtime's base needs, and those that the suites use. */
const needed = [
  'bash',
  'coreutils',
  'diffutils',
  'findutils',
  'grep',
  'hostname',
  'libc-bin',
  'mount',
  'perl-base',
  'procps',
  'sed',
  'tar',
  'util-linux',
]
const topLinks = ['/bin', '/sbin', '/lib', '/lib64']
const unneeded = /^\/(usr\/share\/(doc|man|info|locale|lintian|bash-completion)|boot|dev|proc|run|sys|tmp)(\/|$)/

/** Creates a tar of a small root file system from files of this Debian system. Needs no network and takes a second. */
export async function hostRootTar(folder: string): Promise<string> {
  const files = (await run('dpkg-query', ['-L', ...(await withDependencies(needed))], large)).stdout.split('\n')
  const entries = new Set([...topLinks, ...files.filter((it) => /^\/[^.]/.test(it))])
  const present = await Promise.all(
    [...entries]
      .filter((it) => !unneeded.test(it))
      .map(async (path) => ({ path, stat: await readable(path).catch(() => {}) })),
  )
  // `/bin` is a link on most systems, and packages list files below it. Links come first, then folders.
  const rank = ({ path, stat }: (typeof present)[number]): number =>
    topLinks.includes(path) ? 0 : stat?.isDirectory() ? 1 : 2
  const names = present
    .filter(({ stat }) => stat)
    .toSorted((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : 1))
    .map(({ path }) => `.${path}`)
  const list = join(folder, 'root.list')
  const tar = join(folder, 'root.tar')
  await writeFile(list, names.join('\n'))
  await run('tar', ['--create', '--file', tar, '--directory', '/', '--no-recursion', '--files-from', list], large)
  const passwdPath = join(folder, 'passwd')
  await writeFile(
    passwdPath,
    'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n',
  )
  await run('tar', [
    '--append',
    '--file',
    tar,
    '--directory',
    folder,
    '--transform',
    's,^,./etc/,',
    '--owner=0',
    '--group=0',
    'passwd',
  ])
  return tar
}

async function withDependencies(names: readonly string[]): Promise<string[]> {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: fields of dpkg-query
  const format = '${Package}\t${db:Status-Status}\t${Pre-Depends}, ${Depends}\n'
  const rows = (await run('dpkg-query', ['--show', `--showformat=${format}`], large)).stdout.split('\n')
  const installed = new Map(
    rows
      .map((row) => row.split('\t'))
      .flatMap(([name = '', status, depends = '']) => (status === 'installed' ? [[name, depends] as const] : [])),
  )
  const entries = new Set<string>()
  const pending = [...names]
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (entries.has(name) || !installed.has(name)) continue
    entries.add(name)
    for (const group of (installed.get(name) ?? '').split(',')) {
      const choices = group.split('|').map((it) => it.trim().split(/[\s:(]/)[0] ?? '')
      pending.push(choices.find((it) => installed.has(it)) ?? '')
    }
  }
  return [...entries]
}

/** Skips files that only root can read, for an ordinary user. */
async function readable(path: string) {
  const stat = await lstat(path)
  if (!stat.isSymbolicLink()) await access(path, constants.R_OK)
  return stat
}
