import type { HostBase } from './baseFiles.ts'

/** Written by PID 1 when everything is mounted. */
export const readyLine = 'ready'

/**
 * PID 1 ignores the end of its children (bash does so when told; dash does not), so that the kernel itself reaps what is
 * orphaned, and being PID 1 without a handler it cannot be killed from inside.
 */
const init = `trap '' CHLD; echo ${readyLine}; exec sleep infinity </dev/null >/dev/null 2>&1`

/** Settings of the kernel that belong to the whole host. */
const shownReadOnly = ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus', '/proc/fs', '/proc/acpi']

export function bwrapArguments(options: {
  /** Where bwrap finds the content of the machine. */
  content: string
  hostname: string
  /** Undefined for a machine of an image: its user namespace and its whole `/` are there already. */
  base: HostBase | undefined
  infoFile: number
}): string[] {
  const { base, content } = options
  return [
    ...(base ? ['--unshare-all', '--unshare-user', '--uid', '0', '--gid', '0'] : inUserNamespace),
    ...['--hostname', options.hostname],
    ...['--die-with-parent', '--new-session', '--as-pid-1', '--info-fd', String(options.infoFile)],
    ...['--bind', `${content}/root`, '/'],
    ...(base?.readOnly ?? []).flatMap((path) => ['--ro-bind', path, path]),
    ...(base ? ['--bind', `${content}/usr-local`, '/usr/local'] : []),
    ...['--proc', '/proc'],
    ...shownReadOnly.flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--dev', '/dev', '--perms', '0755', '--tmpfs', '/run', '--dir', '/run/lock'],
    ...['--clearenv', '--setenv', 'PATH', '/usr/sbin:/usr/bin:/sbin:/bin', '--chdir', '/'],
    ...['--', base?.shell ?? '/bin/bash', '-c', init],
  ]
}

/** bwrap is root there, and would keep all capabilities in it. */
const inUserNamespace = [
  ...['--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try'],
  ...['--cap-drop', 'ALL'],
]
