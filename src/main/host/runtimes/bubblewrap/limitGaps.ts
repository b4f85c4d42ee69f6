import type { LimitGap } from '#shared/contract/sandboxes.ts'

/** Properties of the host's cgroups that explain a missing limit. */
export type CgroupFacts = { uid: number; user: string } & ({ version: 1 | undefined } | UnifiedFacts)

type UnifiedFacts = {
  version: 2
  /** System unit that runs Steward. */
  unit: string | undefined
  /** Controllers provided by the kernel. */
  ofKernel: readonly string[]
  /** Controllers delegated to the user's service manager. Absent if there is no service manager. */
  ofManager: readonly string[] | undefined
  /** Whether the cgroups are mounted read-only, as in a container. */
  isReadOnly: boolean
}

const names = { memory: 'Memory', cpu: 'The processor' } as const

/** Explains why a limit cannot be enforced, and adds the fix command. */
export function describeCgroupGap(limit: 'memory' | 'cpu', facts: CgroupFacts): LimitGap {
  const { reason, cure } = explainGap(limit, facts)
  return { limit, reason: `${names[limit]} is not limited: ${reason}`, cure }
}

function explainGap(limit: 'memory' | 'cpu', facts: CgroupFacts): Omit<LimitGap, 'limit'> {
  if (facts.version === undefined) return { reason: 'this computer has no control groups.', cure: null }
  if (facts.version !== 2)
    return facts.uid === 0
      ? { reason: 'control groups (version 1) are read-only here.', cure: null }
      : {
          reason: 'only root can use control groups version 1. Version 2 works for every user after a reboot.',
          cure: formatBootFix('systemd.unified_cgroup_hierarchy=1'),
        }
  const { user, uid, unit, ofKernel, ofManager, isReadOnly } = facts
  if (isReadOnly) return { reason: 'control groups are read-only, as in a container.', cure: null }
  if (!ofKernel.includes(limit))
    return {
      reason: `the kernel was booted without the control group \`${limit}\`. The fix requires a reboot.`,
      cure: formatBootFix(`cgroup_enable=${limit}`),
    }
  if (unit !== undefined)
    return {
      reason: `control groups are not delegated to the unit ${unit}.`,
      cure: dropIn(unit, 'Delegate=yes', `sudo systemctl restart ${unit}`),
    }
  if (uid !== 0 && ofManager === undefined)
    return {
      reason: `${user} has no running systemd user manager to delegate control groups. Restart Steward afterwards.`,
      cure: `sudo loginctl enable-linger ${user}`,
    }
  if (ofManager !== undefined && !ofManager.includes(limit))
    return {
      reason: `the control group \`${limit}\` is not delegated to the systemd user manager of ${user}. Log in again afterwards.`,
      cure: dropIn('user@.service', 'Delegate=cpu cpuset io memory pids', undefined),
    }
  if (ofManager !== undefined)
    return {
      reason: `the systemd user manager of ${user} did not create a scope for Steward. Restart Steward to try again.`,
      cure: null,
    }
  return { reason: 'this user is not allowed to create control groups.', cure: null }
}

function formatBootFix(option: string): string {
  const line = `GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX ${option}"`
  const folder = '/etc/default/grub.d'
  return `sudo mkdir -p ${folder} && echo '${line}' | sudo tee -a ${folder}/steward.cfg && sudo update-grub`
}

function dropIn(unit: string, setting: string, then: string | undefined): string {
  const folder = `/etc/systemd/system/${unit}.d`
  const write = `printf '[Service]\\n${setting}\\n' | sudo tee ${folder}/steward.conf`
  return [`sudo mkdir -p ${folder}`, write, 'sudo systemctl daemon-reload', then].filter(Boolean).join(' && ')
}
