import type { Sandbox } from '#shared/contract/sandboxes.ts'
import type { SandboxId } from '#shared/ids.ts'

export type SandboxList = readonly Sandbox[]

/** Sorted newest first, as the service lists them. */
export function withSandbox(list: SandboxList, sandbox: Sandbox): SandboxList {
  const others = list.filter(({ id }) => id !== sandbox.id)
  if (others.length < list.length) return list.map((item) => (item.id === sandbox.id ? sandbox : item))
  return [...others, sandbox].sort((a, b) => b.created_at.localeCompare(a.created_at))
}

/**
 * Adds a sandbox from a response. Ignored if the sandbox is already listed, because the response may be older than its
 * event.
 */
export function withNewSandbox(list: SandboxList, sandbox: Sandbox): SandboxList {
  return list.some(({ id }) => id === sandbox.id) ? list : withSandbox(list, sandbox)
}

export function removeSandbox(list: SandboxList, id: SandboxId): SandboxList {
  return list.filter((it) => it.id !== id)
}
