import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Docker from 'dockerode'
import { until } from '../assertions/eventually.ts'
import { listProcesses } from '../assertions/processes.ts'
import { temporaryFolder } from '../fixtures/temporaryFolder.ts'

/** Podman's Docker API for a test, with a separate socket, images and containers. */
export type Podman = {
  endpoint: string
  socketPath: string
  /** Second client of the same engine. */
  docker: Docker
  /** Image of a small root file system with bash, coreutils, procps and perl. */
  image: string
  /** Tar of the same root file system. */
  baseFile: string
  /** Runs `podman …` on the same images and containers. */
  run(...parts: string[]): string
  /** Kills the engine as in a crash. Its containers keep running. */
  kill(): Promise<void>
  start(): Promise<void>
  close(): Promise<void>
}

/** Packages of the base, copied from this computer, so that nothing is downloaded. */
const packages = [
  ...[
    'base-files',
    'bash',
    'coreutils',
    'dash',
    'debianutils',
    'diffutils',
    'findutils',
    'grep',
    'hostname',
    'libc-bin',
    'libc6',
  ],
  ...['libacl1', 'libattr1', 'libblkid1', 'libcap2', 'libcap-ng0', 'libcrypt1', 'libgcc-s1', 'libgcrypt20', 'libgmp10'],
  ...[
    'libgpg-error0',
    'liblz4-1',
    'liblzma5',
    'libmount1',
    'libpcre2-8-0',
    'libproc2-0',
    'libselinux1',
    'libsmartcols1',
  ],
  ...['libstdc++6', 'libsystemd0', 'libtinfo6', 'libudev1', 'libuuid1', 'libzstd1', 'mawk', 'mount', 'ncurses-base'],
  ...['perl-base', 'procps', 'sed', 'tar', 'util-linux', 'zlib1g'],
]
const excluded = /^\/usr\/share\/(bash-completion|doc|info|locale|lintian|man|zsh)\//
const folders = ['dev', 'etc', 'home', 'opt', 'proc', 'root', 'run', 'srv', 'sys', 'tmp', 'usr/local/bin', 'var/tmp']
const deadlineMs = 120_000

/** Returns the reason why Podman cannot be tested here, or undefined. */
export function podmanFault(): string | undefined {
  if (process.getuid?.() !== 0) return 'Podman is tested as root only.'
  for (const tool of ['podman', 'dpkg', 'tar']) {
    if (!(process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, tool)))) {
      return `${tool} is not installed.`
    }
  }
  return undefined
}

export async function startPodman(): Promise<Podman> {
  const folder = temporaryFolder('podman')
  const socketPath = join(folder, 'podman.sock')
  // Uses a separate run root. Otherwise, the engine would share /run/libpod with other engines, and `reset` empties it.
  const storageOptions = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run')]
  storageOptions.push('--tmpdir', join(folder, 'libpod'))
  const environment = { ...process.env, ...writeConfiguration(folder) }
  const run = (...parts: string[]): string =>
    execFileSync('podman', [...storageOptions, ...parts], {
      cwd: folder,
      env: environment,
      encoding: 'utf8',
      timeout: deadlineMs,
    })
  const docker = new Docker({ socketPath, host: undefined })
  let service: ChildProcess | undefined

  const start = async (): Promise<void> => {
    service = spawn('podman', [...storageOptions, 'system', 'service', '-t', '0', `unix://${socketPath}`], {
      // conmon records out-of-memory kills in its working directory.
      cwd: folder,
      env: environment,
      stdio: 'ignore',
    })
    await until('Podman to answer', () => docker.ping().then(() => true))
  }
  const kill = async (): Promise<void> => {
    const ending = service
    service = undefined
    if (!ending || ending.exitCode !== null) return
    const exited = new Promise((resolve) => ending.once('exit', resolve))
    ending.kill('SIGKILL')
    await exited
  }

  const image = 'localhost/base:latest'
  const baseFile = writeBase(folder)
  run('import', '--quiet', baseFile, image)
  await start()
  return {
    endpoint: `unix://${socketPath}`,
    socketPath,
    docker,
    image,
    baseFile,
    run,
    kill,
    start,
    async close() {
      await kill()
      run('rm', '--all', '--force', '--time', '0')
      // conmon cleans up after a container, and may write while `reset` removes files.
      await until(
        'what watches containers to end',
        () => !listProcesses().some((each) => each.command.includes(folder)),
      )
      // Removes mounts in the storage as well.
      run('system', 'reset', '--force')
    },
  }
}

/** Configures the engine to run inside a container or virtual machine, regardless of this computer's settings. */
function writeConfiguration(folder: string): Record<string, string> {
  const runtime = ['runc', 'crun'].find((name) => existsSync(`/usr/sbin/${name}`) || existsSync(`/usr/bin/${name}`))
  writeFileSync(
    join(folder, 'containers.conf'),
    [
      '[containers]',
      'default_ulimits = ["nofile=20000:20000", "nproc=32768:32768"]',
      '[engine]',
      'cgroup_manager = "cgroupfs"',
      'events_logger = "file"',
      // `reset` logs each image that it removes while it empties its own folders.
      `events_logfile_path = "${join(folder, 'events.log')}"`,
      ...(runtime ? [`runtime = "${runtime}"`] : []),
      '[network]',
      `network_config_dir = "${join(folder, 'networks')}"`,
      '',
    ].join('\n'),
  )
  // The test's registry does not use TLS.
  const registries = ['unqualified-search-registries = []', '[[registry]]', 'location = "127.0.0.1"', 'insecure = true']
  writeFileSync(join(folder, 'registries.conf'), `${registries.join('\n')}\n`)
  writeFileSync(join(folder, 'policy.json'), '{"default": [{"type": "insecureAcceptAnything"}]}')
  return {
    CONTAINERS_CONF: join(folder, 'containers.conf'),
    CONTAINERS_REGISTRIES_CONF: join(folder, 'registries.conf'),
  }
}

/** Writes a tar of a root file system of about 50 MB, quickly and without a network. @returns the path of the tar */
function writeBase(folder: string): string {
  const baseFolder = join(folder, 'base')
  for (const each of folders)
    mkdirSync(join(baseFolder, each), { recursive: true, mode: each.endsWith('tmp') ? 0o1777 : 0o755 })
  for (const each of ['bin', 'lib', 'lib64', 'sbin']) symlinkSync(`usr/${each}`, join(baseFolder, each))
  writeFileSync(
    join(baseFolder, 'etc/passwd'),
    'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534::/nonexistent:/bin/false\n',
  )
  writeFileSync(join(baseFolder, 'etc/group'), 'root:x:0:\nnogroup:x:65534:\n')
  const listed = packages.flatMap((name) => {
    try {
      return execFileSync('dpkg', ['-L', name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split('\n')
    } catch {
      return [] // the file has a different name in this release
    }
  })
  const included = listed.filter((path) => path !== '' && !excluded.test(path) && isFile(path)).map(resolvePath)
  const list = [...new Set(included)].filter((path) => path.startsWith('/usr/') || path.startsWith('/etc/')).toSorted()
  writeFileSync(join(folder, 'files'), list.map((path) => path.slice(1)).join('\n'))
  const tar = join(folder, 'base.tar')
  execFileSync('tar', ['-C', '/', '--no-recursion', '-cf', tar, '-T', join(folder, 'files')])
  execFileSync('tar', ['-C', baseFolder, '--owner=0', '--group=0', '-rf', tar, '.'])
  return tar
}

function isFile(path: string): boolean {
  try {
    return !lstatSync(path).isDirectory()
  } catch {
    return false
  }
}

/** Resolves links in the folder of a path. `/bin/ls` becomes `/usr/bin/ls`. */
function resolvePath(path: string): string {
  return join(realpathSync(dirname(path)), basename(path))
}
