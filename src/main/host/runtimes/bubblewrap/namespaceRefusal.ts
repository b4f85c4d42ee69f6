import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { installFolder } from '#platform/program/programFile.ts'

/** Kernel settings that forbid namespaces to ordinary users. Undefined if the setting does not exist. */
export type NamespaceSettings = {
  /** Debian-specific. 0 forbids. */
  clone: string | undefined
  /** Forbidden if 0. */
  maxNamespaces: string | undefined
  /** Ubuntu-specific. 1 forbids namespaces to programs without an AppArmor profile that allows them. */
  appArmor: string | undefined
}

const sysctlFile = '/etc/sysctl.d/90-steward.conf'
const profile = 'steward-sandboxes'
/** Stored beside the package archive, because other programs cannot read files in it. */
const profileFile = installFolder.endsWith('.asar')
  ? join(installFolder, '..', 'apparmor', profile)
  : join(installFolder, 'resources', 'packaging', 'apparmor', profile)

export const readNamespaceSettings = (): NamespaceSettings => ({
  clone: readSetting('kernel/unprivileged_userns_clone'),
  maxNamespaces: readSetting('user/max_user_namespaces'),
  appArmor: readSetting('kernel/apparmor_restrict_unprivileged_userns'),
})

/** @param said error output of bwrap, which failed to create its namespaces */
export function findNamespaceRefusal(
  said: string,
  settings: () => NamespaceSettings,
): { reason: string; cure: string | null } {
  const { clone, maxNamespaces, appArmor } = settings()
  const createRefusal = (why: string, cure: string | null) => ({
    reason: `bwrap is installed but cannot create a sandbox (${said.replace(/\.$/, '')}). ${why}`,
    cure,
  })
  if (clone === '0') return createRefusal('User namespaces are disabled for unprivileged users.', set(userClone, '1'))
  if (maxNamespaces === '0')
    return createRefusal('User namespaces are disabled.', set('user.max_user_namespaces', '15000'))
  if (appArmor === '1') return createRefusal('AppArmor blocks user namespaces for programs without a profile.', install)
  return createRefusal('User namespaces seem to be blocked, as in many containers.', null)
}

const userClone = 'kernel.unprivileged_userns_clone'
const install = `sudo install -m 644 ${profileFile} /etc/apparmor.d/ && sudo apparmor_parser -r /etc/apparmor.d/${profile}`

/** Builds a command that applies a setting now and after a reboot. */
function set(name: string, value: string): string {
  return `sudo sysctl -w ${name}=${value} && echo '${name} = ${value}' | sudo tee -a ${sysctlFile}`
}

function readSetting(name: string): string | undefined {
  try {
    return readFileSync(`/proc/sys/${name}`, 'utf8').trim()
  } catch {
    return undefined // the kernel has no such setting
  }
}
