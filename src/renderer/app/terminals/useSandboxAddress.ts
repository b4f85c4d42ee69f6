import { useEffect, useEffectEvent } from 'react'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { buildAddress, useRoute } from '../../ui/route.ts'

/**
 * Returns the listed sandbox that the address refers to, `#/terminals/ID`.
 * @param selectedId sandbox shown last, used if the address contains no id
 */
export function useAddressedSandbox(
  sandboxes: readonly Sandbox[] | undefined,
  selectedId: string | null,
): Sandbox | undefined {
  const { isHere, isNamed, id } = useTerminalsPlace()
  const addressed = sandboxes?.find((it) => it.id === id)
  const present = addressed ?? sandboxes?.find((it) => it.id === selectedId) ?? sandboxes?.[0]
  // A new sandbox is selected before it is listed.
  const isAhead = id !== undefined && id === selectedId
  const presentId = sandboxes && isHere && !addressed && !isAhead ? (present?.id ?? null) : undefined
  useEffect(() => {
    // The start address names no section. Unsaved forms need one to detect that a navigation leaves them.
    if (presentId === null && (id !== undefined || !isNamed)) replaceAddress()
    else if (presentId) replaceAddress(presentId)
  }, [presentId, id, isNamed])
  return present
}

type AddressTargetOptions = {
  sandboxes: readonly Sandbox[] | undefined
  openFile(sandbox: Sandbox, path: string): void
  openTerminal(sandbox: Sandbox, id: string): void
}

/**
 * Opens the file in `#/terminals/ID/files/PATH` or the terminal in `…/terminal/ID` once, and removes that part from the
 * address.
 */
export function useAddressTarget({ sandboxes, openFile, openTerminal }: AddressTargetOptions): void {
  const { id, part, path } = useTerminalsPlace()
  const sandbox = sandboxes?.find((it) => it.id === id)
  const follow = useEffectEvent(() => {
    if (!sandbox) return
    if (part === 'terminal' && path !== undefined) openTerminal(sandbox, path)
    if (part === 'files' && path !== undefined) openFile(sandbox, path)
    replaceAddress(sandbox.id)
  })
  const target = sandbox && part !== undefined ? [part, path].join('/') : undefined
  useEffect(() => {
    if (target !== undefined) follow()
  }, [target])
}

function useTerminalsPlace() {
  const place = useRoute()
  const [section = 'terminals', id, part, path] = place
  // The address may change to another section before this component unmounts.
  return {
    isHere: section === 'terminals',
    isNamed: place.length > 0,
    ...(section === 'terminals' && { id, part, path }),
  }
}

function replaceAddress(...parts: readonly string[]): void {
  window.location.replace(buildAddress('terminals', ...parts))
}
