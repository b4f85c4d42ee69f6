import { useEffect, useEffectEvent, useState } from 'react'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import type { TerminalMatch } from '#shared/contract/terminalSearch.ts'
import type { SandboxId } from '#shared/ids.ts'
import type { SandboxList } from '../../api/sandboxes/sandboxList.ts'
import { forgetOtherDrafts } from '../../features/files/editor/drafts.ts'
import { forgetOtherUploads } from '../../features/files/transfers/storedTransfers.ts'
import type { Layouts } from '../../features/terminals/layout/useLayouts.ts'
import {
  findNeighbor,
  type Selection,
  withListedSandboxes,
  withSandboxForgotten,
  withSandboxSelected,
  withTabOpen,
  withTerminalSelected,
} from '../../features/terminals/selection/selection.ts'
import { type ChangeSelection, useSelection } from '../../features/terminals/selection/useSelection.ts'
import { goTo } from '../../ui/route.ts'
import { useAddressedSandbox } from './useSandboxAddress.ts'
import type { TerminalFocus } from './useTerminalFocus.ts'

type SandboxSelectionOptions = {
  /** Not set until first read. */
  sandboxes: SandboxList | undefined
  layouts: Layouts
  focus: TerminalFocus
}

export type SandboxSelection = {
  value: Selection
  change: ChangeSelection
  /** The sandbox in view. */
  present: Sandbox | undefined
  /** Latest argument of `openMatch`. */
  reveal: TerminalMatch | undefined
  open(sandbox: Sandbox): void
  showTerminal(sandbox: Sandbox, terminalId: string): void
  openMatch(match: TerminalMatch): void
  /** Deselects a removed sandbox. Selects a neighbor if it was in view. */
  removeSandbox(sandbox: Sandbox): void
}

/** Tracks the sandbox in view, and removes stored state of sandboxes that no longer exist. */
export function useSandboxSelection({ sandboxes, layouts, focus }: SandboxSelectionOptions): SandboxSelection {
  const [value, change] = useSelection()
  const [reveal, setReveal] = useState<TerminalMatch>()
  const present = useAddressedSandbox(sandboxes, value.sandboxId)
  const presentId = present?.id
  const learnPresent = useEffectEvent((id: SandboxId) => {
    if (value.sandboxId === id) return
    change((prev) => withSandboxSelected(prev, id))
    focus.request()
  })
  useEffect(() => {
    if (presentId !== undefined) learnPresent(presentId)
  }, [presentId])

  const forgetOthers = useEffectEvent((ids: readonly SandboxId[]) => {
    layouts.keep(ids)
    change((prev) => withListedSandboxes(prev, ids))
    forgetOtherDrafts(ids)
    forgetOtherUploads(ids)
  })
  useEffect(() => {
    if (sandboxes) forgetOthers(sandboxes.map(({ id }) => id))
  }, [sandboxes])

  return {
    value,
    change,
    present,
    reveal,
    open(sandbox) {
      change((prev) => withSandboxSelected(prev, sandbox.id))
      goTo('terminals', sandbox.id)
      focus.request()
    },
    showTerminal({ id }, terminalId) {
      change((prev) => withTerminalSelected(withTabOpen(prev, id, terminalId), id, terminalId))
      focus.request()
    },
    openMatch(match) {
      change((prev) => withMatchSelected(prev, match))
      goTo('terminals', match.sandbox_id)
      setReveal(match)
      focus.request()
    },
    removeSandbox: (sandbox) => change((prev) => withSandboxRemoved(prev, sandbox, sandboxes ?? [])),
  }
}

function withMatchSelected(selection: Selection, { sandbox_id, session_id }: TerminalMatch): Selection {
  return withTerminalSelected(
    withSandboxSelected(withTabOpen(selection, sandbox_id, session_id), sandbox_id),
    sandbox_id,
    session_id,
  )
}

function withSandboxRemoved(selection: Selection, { id }: Sandbox, sandboxes: SandboxList): Selection {
  const next = findNeighbor(
    sandboxes.map((sandbox) => sandbox.id),
    id,
  )
  const after = withSandboxForgotten(selection, id)
  return after.sandboxId === null && next !== undefined ? withSandboxSelected(after, next) : after
}
