import { Ellipsis, Plus } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { Sandbox } from '../../../../shared/contract/sandboxes.ts'
import type { Terminal } from '../../../../shared/contract/terminals.ts'
import { useCommands } from '../../../ui/commands/commandRegistry.tsx'
import { ErrorNotice } from '../../../ui/ErrorNotice.tsx'
import { IconButton } from '../../../ui/IconButton.tsx'
import { ContextMenu, Menu } from '../../../ui/Menu.tsx'
import { SkeletonRows } from '../../../ui/Skeleton.tsx'
import { TabPanel, Tabs } from '../../../ui/Tabs.tsx'
import { type SandboxRowActions, sandboxMenu } from '../sandboxes/SandboxRow.tsx'
import { newTerminalKeys } from '../shortcuts.ts'
import type { TerminalSize } from '../stream/terminalScreen.ts'
import type { WebglLeases } from '../view/webglLeases.ts'
import { NoTerminals } from './NoTerminals.tsx'
import { StoppedBar } from './StoppedBar.tsx'
import { TabMark } from './TabMark.tsx'
import { TerminalPanel } from './TerminalPanel.tsx'
import { tabCommands, tabMenu } from './tabActions.ts'
import { tabLabels } from './tabLabels.ts'
import { useRecent } from './useRecent.ts'
import { useTerminals } from './useTerminals.ts'
import type { WorkbenchActions } from './workbenchActions.ts'

/** Terminals kept on the page; one longer out of view is attached again when it is shown. */
const terminalsKept = 8

type WorkbenchProps = {
  sandbox: Sandbox
  visible: boolean
  selectedId: string | undefined
  closedIds: readonly string[]
  webgl: WebglLeases
  wantsFocus: boolean
  onFocusTaken: () => void
  onRoom: (size: TerminalSize) => void
  actions: WorkbenchActions
  sandboxActions: SandboxRowActions
  /** Opens the panel beside the terminals. */
  sideButton: ReactNode
}

/** The terminals of one sandbox. */
export function Workbench({
  sandbox,
  visible,
  selectedId,
  closedIds,
  actions,
  sandboxActions,
  sideButton,
  ...shared
}: WorkbenchProps) {
  const { data, error, isPending, refetch } = useTerminals(sandbox.id)
  const [unread, setUnread] = useState<ReadonlySet<string>>(new Set())
  const tabs = (data ?? []).filter((it) => it.state === 'running' || !closedIds.includes(it.session_id))
  const present = tabs.find((it) => it.session_id === selectedId) ?? tabs[0]
  const kept = useRecent(visible ? present?.session_id : undefined, terminalsKept)
  const labels = tabLabels(tabs)
  const running = sandbox.status === 'running'
  useCommands(visible ? tabCommands({ tabs, present, running, actions }) : [])

  if (isPending) {
    return (
      <div className="p-3">
        <SkeletonRows label="Reading terminals…" count={3} rowClassName="h-7" />
      </div>
    )
  }
  if (error) {
    return (
      <div className="p-3">
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </div>
    )
  }
  if (!present) return <NoTerminals {...{ sandbox, actions, sandboxActions, sideButton }} />

  const select = (terminal: Terminal) => {
    setUnread((before) => without(before, terminal.session_id))
    actions.select(terminal)
  }
  return (
    <div className="flex size-full min-h-0 flex-col">
      {!running && <StoppedBar sandbox={sandbox} onStart={() => sandboxActions.start(sandbox)} />}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it only adds to the click on a tab, which is a button */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a tab is a click */}
      <div
        className="min-h-0 flex-1"
        onClick={({ target }) => target instanceof Element && target.closest('[role="tab"]') && actions.focus()}
      >
        <Tabs
          label={`Terminals of ${sandbox.name}`}
          tabs={tabs.map((terminal) => ({
            id: terminal.session_id,
            label: labels.get(terminal.session_id) ?? terminal.command,
            title: terminal.command,
            mark: <TabMark terminal={terminal} isUnread={terminal !== present && unread.has(terminal.session_id)} />,
          }))}
          value={present.session_id}
          onChange={(id) => tabs.filter((it) => it.session_id === id).forEach(select)}
          onClose={(id) =>
            actions.close(
              tabs.filter((it) => it.session_id === id),
              tabs,
            )
          }
          end={sideButton}
          wrap={({ id }, element) => (
            <ContextMenu items={tabMenu({ id, tabs, running, actions })}>{element}</ContextMenu>
          )}
          actions={
            <>
              <IconButton
                label="New terminal"
                icon={Plus}
                size="small"
                shortcut={newTerminalKeys}
                disabled={!running}
                onClick={actions.newTerminal}
              />
              <Menu items={sandboxMenu(sandbox, sandboxActions)} align="end">
                <IconButton label={`Actions for ${sandbox.name}`} icon={Ellipsis} size="small" />
              </Menu>
            </>
          }
        >
          {tabs.map((terminal) => (
            <TabPanel key={terminal.session_id} id={terminal.session_id} kept>
              {kept.includes(terminal.session_id) && (
                <TerminalPanel
                  {...shared}
                  terminal={terminal}
                  label={`${labels.get(terminal.session_id)} in ${sandbox.name}`}
                  visible={visible && terminal === present}
                  onTitle={(title) => actions.retitle(terminal, title)}
                  onHiddenOutput={() => setUnread((before) => withId(before, terminal.session_id))}
                  onAgain={running ? () => actions.again(terminal) : undefined}
                  onClose={() => actions.close([terminal], tabs)}
                />
              )}
            </TabPanel>
          ))}
        </Tabs>
      </div>
    </div>
  )
}

function withId(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  return ids.has(id) ? ids : new Set([...ids, id])
}

function without(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  return ids.has(id) ? new Set([...ids].filter((it) => it !== id)) : ids
}
