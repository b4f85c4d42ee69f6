import { existsSync } from 'node:fs'
import type { HostBase } from './baseFiles.ts'
import { visibleFiles } from './machineView.ts'

/** Descriptors passed to bwrap. It writes the process that it started to `info` and reads the others. */
export const descriptors = { info: 3, firstProcess: 4, filter: 5, visible: 6, masked: 9 }

/** Path of the first process inside. */
const firstProcessPath = '/dev/init'
/**
 * Used only by a test that removes the static first process: any shell of the sandbox. Ignores SIGCHLD, so that the
 * kernel reaps orphans (bash does so with a trap; dash does not).
 */
const shellInit = `trap '' CHLD; echo ready; exec sleep infinity </dev/null >/dev/null 2>&1`

/**
 * Files that list keys of the user who runs Steward, whatever keyring the sandbox has. Masked where the kernel has
 * them.
 */
export const getMaskedFiles = (): string[] => ['/proc/keys', '/proc/key-users'].filter((path) => existsSync(path))

/** Kernel settings of the whole host that stay visible: see `hide_kernel` in `warden.pl`. */
const readOnlyPaths = ['/proc/sys', '/proc/sysrq-trigger']
/** Bounded because its content counts as the sandbox's memory. */
const runBytes = 64 * 1024 ** 2
const sharedShare = 0.5

/** Size of a machine's `/dev/shm`, in bytes. */
export const getSharedBytes = (memoryMb: number): number => Math.floor(memoryMb * 1024 ** 2 * sharedShare)

export function buildBwrapArguments(options: {
  /** Path of the machine's content as bwrap sees it. */
  content: string
  hostname: string
  /** Memory of the machine, which bounds its `/dev/shm`. */
  memoryMb: number
  /** Absent for a machine with an image: its user namespace and its whole `/` already exist. */
  base: HostBase | undefined
  parts: { filter: boolean; firstProcess: boolean; masked: readonly string[] }
}): string[] {
  const { base, content, parts } = options
  return [
    ...(base ? ['--unshare-all', '--unshare-user', '--uid', '0', '--gid', '0'] : inUserNamespace),
    ...['--hostname', options.hostname],
    ...['--die-with-parent', '--new-session', '--as-pid-1', '--info-fd', String(descriptors.info)],
    ...(parts.filter ? ['--seccomp', String(descriptors.filter)] : []),
    ...['--bind', `${content}/root`, '/'],
    ...(base?.readOnly ?? []).flatMap((path) => ['--ro-bind', path, path]),
    ...(base ? ['--bind', `${content}/usr-local`, '/usr/local'] : []),
    ...['--proc', '/proc'],
    ...readOnlyPaths.flatMap((path) => ['--ro-bind-try', path, path]),
    ...visibleFiles.flatMap((name, index) => [
      ...['--perms', '0644', '--bind-data', String(descriptors.visible + index), `/proc/${name}`],
    ]),
    ...parts.masked.flatMap((path, index) => [
      ...['--perms', '0444', '--ro-bind-data', String(descriptors.masked + index), path],
    ]),
    ...['--dev', '/dev', '--perms', '1777', '--size', String(getSharedBytes(options.memoryMb)), '--tmpfs', '/dev/shm'],
    ...['--perms', '0555', '--ro-bind-data', String(descriptors.firstProcess), firstProcessPath],
    ...['--remount-ro', '/dev'],
    ...['--perms', '0755', '--size', String(runBytes), '--tmpfs', '/run', '--dir', '/run/lock'],
    ...['--clearenv', '--setenv', 'PATH', '/usr/sbin:/usr/bin:/sbin:/bin', '--chdir', '/'],
    ...(parts.firstProcess ? ['--', firstProcessPath] : ['--', base?.shell ?? '/bin/bash', '-c', shellInit]),
  ]
}

/** bwrap is root there, and would keep all capabilities in it. */
const inUserNamespace = [
  ...['--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try'],
  ...['--cap-drop', 'ALL'],
]
