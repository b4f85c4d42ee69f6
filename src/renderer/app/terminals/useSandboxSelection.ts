import { useEffect, useEffectEvent } from 'react'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import type { SandboxId } from '#shared/ids.ts'
import type { SandboxList } from '../../api/sandboxes/sandboxList.ts'
import { forgetOtherDrafts } from '../../features/files/editor/drafts.ts'
import { forgetOtherUploads } from '../../features/files/transfers/storedTransfers.ts'
import type { Layouts } from '../../features/terminals/layout/useLayouts.ts'
import {
  type Selection,
  withListedSandboxes,
  withSandboxSelected,
} from '../../features/terminals/selection/selection.ts'
import { type ChangeSelection, useSelection } from '../../features/terminals/selection/useSelection.ts'
import { goTo } from '../../ui/route.ts'
import { useAddressedSandbox } from './useSandboxAddress.ts'

type SandboxSelectionOptions = {
  /** Not set until first read. */
  sandboxes: SandboxList | undefined
  layouts: Layouts
  focusTerminal(): void
}

export type SandboxSelection = {
  selection: Selection
  changeSelection: ChangeSelection
  /** The sandbox in view. */
  present: Sandbox | undefined
  open(sandbox: Sandbox): void
}

/** Tracks the sandbox in view, and removes stored state of sandboxes that no longer exist. */
export function useSandboxSelection({ sandboxes, layouts, focusTerminal }: SandboxSelectionOptions): SandboxSelection {
  const [selection, changeSelection] = useSelection()
  const present = useAddressedSandbox(sandboxes, selection.sandboxId)
  const presentId = present?.id
  const learnPresent = useEffectEvent((id: SandboxId) => {
    if (selection.sandboxId === id) return
    changeSelection((before) => withSandboxSelected(before, id))
    focusTerminal()
  })
  useEffect(() => {
    if (presentId !== undefined) learnPresent(presentId)
  }, [presentId])

  const forgetOthers = useEffectEvent((ids: readonly SandboxId[]) => {
    layouts.keep(ids)
    changeSelection((before) => withListedSandboxes(before, ids))
    forgetOtherDrafts(ids)
    forgetOtherUploads(ids)
  })
  useEffect(() => {
    if (sandboxes) forgetOthers(sandboxes.map(({ id }) => id))
  }, [sandboxes])

  return {
    selection,
    changeSelection,
    present,
    open(sandbox) {
      changeSelection((before) => withSandboxSelected(before, sandbox.id))
      goTo('terminals', sandbox.id)
      focusTerminal()
    },
  }
}
