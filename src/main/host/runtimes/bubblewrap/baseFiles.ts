import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { shellIntegrationPath, shellIntegrationScript } from '../inside/shellIntegrationScript.ts'
import { sandboxAddresses } from './network/networkRules.ts'

export type BaseEntry =
  | { kind: 'folder'; path: string; mode: number }
  | { kind: 'file'; path: string; content: string | Uint8Array; mode?: number }
  | { kind: 'link'; path: string; target: string }

/** Parts shared by all sandboxes on the `host` base: the programs of the host and the settings that these expect. */
export type HostBase = {
  entries: readonly BaseEntry[]
  /** Folders of the host that are mounted read-only in sandboxes. */
  readOnly: readonly string[]
  /** Path of a `bash` that works even if the sandbox has broken its own links. */
  shell: string
}

const folders: readonly (readonly [path: string, mode: number])[] = [
  ['/root', 0o700],
  ['/tmp', 0o1777],
  ['/var', 0o755],
  ['/var/tmp', 0o1777],
  ...[
    '/etc',
    '/etc/ssl',
    '/etc/ssl/certs',
    '/etc/vim',
    '/etc/lynx',
    '/etc/profile.d',
    '/home',
    '/mnt',
    '/media',
    '/opt',
    '/srv',
  ].map((path) => [path, 0o755] as const),
  ...['/proc', '/dev', '/run', '/usr'].map((path) => [path, 0o755] as const),
  ...['/var/cache', '/var/lib', '/var/local', '/var/log', '/var/spool'].map((path) => [path, 0o755] as const),
]

const links: readonly (readonly [path: string, target: string])[] = [
  ['/etc/mtab', '../proc/self/mounts'],
  ['/etc/os-release', '../usr/lib/os-release'],
  ['/etc/localtime', '/usr/share/zoneinfo/Etc/UTC'],
  ['/var/run', '/run'],
  ['/var/lock', '/run/lock'],
]

/**
 * Copied from the host if present. Contains program settings only, nothing about users, network or secrets of the host.
 */
const copiedSettings = [
  'debian_version',
  'fedora-release',
  'host.conf',
  'inputrc',
  'ld.so.cache',
  'login.defs',
  'magic',
  'magic.mime',
  'manpath.config',
  'mime.types',
  'protocols',
  'services',
  'ssl/openssl.cnf',
  'ssl/certs/ca-certificates.crt',
  'vim/vimrc',
]

/** Parts of the host's programs that are located in /etc: links and tables that only /usr uses. */
const usrRelatedPaths = /^(alternatives|fonts|terminfo|java-.*)$/

const prompt = String.raw`\[\e[1;32m\]\u@\h\[\e[0m\]:\[\e[1;34m\]\w\[\e[0m\]\$ `

const written: readonly (readonly [path: string, content: string])[] = [
  ['/etc/passwd', 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n'],
  // Omits the group `tty`: its id is not mapped, and programs would try to assign their terminals to it.
  ['/etc/group', 'root:x:0:\nnogroup:x:65534:\n'],
  [
    '/etc/nsswitch.conf',
    'passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\nprotocols: files\n',
  ],
  // Empty, because the host's settings may name its proxy.
  ['/etc/lynx/lynx.cfg', ''],
  ['/etc/lynx/lynx.lss', ''],
  ['/etc/shells', '/bin/sh\n/bin/bash\n/usr/bin/bash\n'],
  ['/etc/timezone', 'Etc/UTC\n'],
  ['/etc/resolv.conf', ''],
  ['/etc/fstab', ''],
  [
    '/etc/profile',
    `export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
for part in /etc/profile.d/*.sh; do [ -r "$part" ] && . "$part"; done
unset part
`,
  ],
  [
    '/root/.bashrc',
    `case $- in *i*) ;; *) return ;; esac
PS1='${prompt}'
HISTSIZE=10000
HISTCONTROL=ignoreboth
shopt -s checkwinsize histappend
alias ls='ls --color=auto' ll='ls -l' la='ls -A' grep='grep --color=auto'
[ ! -r ${shellIntegrationPath} ] || . ${shellIntegrationPath}
`,
  ],
  [shellIntegrationPath, shellIntegrationScript],
  ['/root/.profile', '[ -n "$BASH_VERSION" ] && [ -r ~/.bashrc ] && . ~/.bashrc\n'],
]

export async function readHostBase(): Promise<HostBase> {
  const [rootEntries, etcNames, files] = await Promise.all([
    listProgramFolders(),
    readdir('/etc', { withFileTypes: true }),
    Promise.all(copiedSettings.map(copyEntry)),
  ])
  const parts = etcNames.filter((entry) => entry.isDirectory() && usrRelatedPaths.test(entry.name))
  const partFolders = parts.map((entry) => join('/etc', entry.name))
  return {
    entries: [
      ...folders.map(([path, mode]): BaseEntry => ({ kind: 'folder', path, mode })),
      ...partFolders.map((path): BaseEntry => ({ kind: 'folder', path, mode: 0o755 })),
      ...rootEntries,
      ...links.map(([path, target]): BaseEntry => ({ kind: 'link', path, target })),
      ...written.map(([path, content]): BaseEntry => ({ kind: 'file', path, content })),
      ...files.flat(),
    ],
    readOnly: [
      '/usr',
      ...rootEntries.filter((entry) => entry.kind === 'folder').map((entry) => entry.path),
      ...partFolders,
    ],
    shell: rootEntries.some((entry) => entry.kind === 'folder' && entry.path === '/bin')
      ? '/bin/bash'
      : '/usr/bin/bash',
  }
}

/** Returns the entries on the disk of a sandbox: its `/` and `/usr/local`. */
export function listSandboxContent(base: HostBase): BaseEntry[] {
  return [
    { kind: 'folder', path: '/root', mode: 0o755 },
    { kind: 'folder', path: '/usr-local', mode: 0o755 },
    ...base.entries.map((entry) => ({ ...entry, path: `/root${entry.path}` })),
  ]
}

/**
 * Entries on the disk of a sandbox with an image: mount points of the image and of the merged root, and the overlay's
 * upper and work folders.
 */
export const imageContent: readonly BaseEntry[] = ['root', 'image', 'upper', 'work'].map((name) => ({
  kind: 'folder',
  path: `/${name}`,
  mode: 0o755,
}))

/** Entries that a sandbox with an image needs to start. */
export const requiredImageEntries: readonly BaseEntry[] = [
  ...['/proc', '/dev', '/run', '/etc'].map((path): BaseEntry => ({ kind: 'folder', path, mode: 0o755 })),
  { kind: 'folder', path: '/root', mode: 0o700 },
  { kind: 'folder', path: '/tmp', mode: 0o1777 },
]

/** Returns the entries that a sandbox needs to start and may have removed itself. */
export function listRequiredEntries(base: HostBase): BaseEntry[] {
  return base.entries.filter((entry) => entry.kind !== 'file' && entry.path.lastIndexOf('/') === 0)
}

/** Returns the files that differ between sandboxes. */
export function listOwnFiles(hostname: string): BaseEntry[] {
  return [
    { kind: 'file', path: '/etc/hostname', content: `${hostname}\n` },
    {
      kind: 'file',
      path: '/etc/hosts',
      content: `127.0.0.1 localhost ${hostname}\n::1 localhost ip6-localhost ip6-loopback\n`,
    },
  ]
}

/** Files that depend on the network. */
export const networkFiles: readonly BaseEntry[] = [
  { kind: 'file', path: '/etc/resolv.conf', content: `nameserver ${sandboxAddresses.names}\n` },
]

/** Replaces files that an image carries from the host and network on which it was built. */
export function listImageFiles(hostname: string): BaseEntry[] {
  return [...listOwnFiles(hostname), { kind: 'file', path: '/etc/resolv.conf', content: '' }]
}

/** Lists `/bin` and similar folders, which are links into `/usr` on most systems and separate folders on others. */
async function listProgramFolders(): Promise<BaseEntry[]> {
  const stats = await Promise.all(
    ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].map(async (path): Promise<BaseEntry[]> => {
      const stat = await lstat(path).catch(() => undefined)
      if (stat?.isSymbolicLink()) return [{ kind: 'link', path, target: await readlink(path) }]
      return stat?.isDirectory() ? [{ kind: 'folder', path, mode: 0o755 }] : []
    }),
  )
  return stats.flat()
}

async function copyEntry(name: string): Promise<BaseEntry[]> {
  const path = join('/etc', name)
  const content = await readFile(path).catch(() => undefined)
  return content ? [{ kind: 'file', path, content }] : []
}
