import { Ellipsis, Plus } from 'lucide-react'
import { type ReactNode, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { useTerminalCalls, useVisibleTerminals } from '#renderer/api/terminals/terminalCalls.ts'
import type { TerminalList } from '#renderer/api/terminals/terminalList.ts'
import { useCommands } from '#renderer/ui/commands/commandRegistry.tsx'
import { newTerminalKeys } from '#renderer/ui/commands/terminalSafeKeys.ts'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { ContextMenu, Menu, type MenuItem } from '#renderer/ui/Menu.tsx'
import { TabPanel, Tabs } from '#renderer/ui/Tabs.tsx'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import type { TerminalMatch } from '#shared/contract/terminalSearch.ts'
import type { Terminal } from '#shared/contract/terminals.ts'
import { CloseDialog } from '../closing/CloseDialog.tsx'
import { useClosing } from '../closing/useClosing.ts'
import { listPaneIds, withShares } from '../layout/paneTree.ts'
import { findTab, type Layout, reconcileLayout, type TabLayout, withActive, withReplaced } from '../layout/tabLayout.ts'
import { BroadcastBar } from '../panes/BroadcastBar.tsx'
import { PaneArea } from '../panes/PaneArea.tsx'
import { PaneFrame } from '../panes/PaneFrame.tsx'
import { createPaneCommands, createPaneMenu } from '../panes/paneCommands.ts'
import { useBroadcast } from '../panes/useBroadcast.ts'
import { usePaneHosts } from '../panes/usePaneHosts.ts'
import { useTabDrag } from '../panes/useTabDrag.ts'
import type { WorkbenchContext } from '../panes/workbenchContext.ts'
import type { TerminalSize } from '../stream/terminalScreen.ts'
import type { SandboxLinks } from '../view/links/terminalLinks.ts'
import type { TerminalSession } from '../view/terminalSession.ts'
import type { WebglLeases } from '../view/webglLeases.ts'
import { TabMark } from './TabMark.tsx'
import { TerminalPanel } from './TerminalPanel.tsx'
import { createTabCommands, createTabMenu } from './tabCommands.ts'
import { buildTabLabels } from './tabLabels.ts'
import { useMarks } from './useMarks.ts'
import { useRecent } from './useRecent.ts'
import type { WorkbenchActions } from './workbenchActions.ts'

/** Tabs that stay mounted; terminals of others are attached again when shown. */
const maxMounted = 8

export type TerminalTabsProps = {
  sandbox: Sandbox
  visible: boolean
  selectedId: string | undefined
  terminals: TerminalList
  /** Stored layout, which may name removed terminals and lack new ones. */
  layout: Layout
  webgl: WebglLeases
  /** Opens what the output names of the sandbox. */
  inside: SandboxLinks
  wantsFocus: boolean
  onFocused: () => void
  onRoom: (size: TerminalSize) => void
  actions: WorkbenchActions
  /** Menu of the sandbox. */
  sandboxMenu: MenuItem[]
  /** Opens the panel beside the terminals. */
  sideButton: ReactNode
  /** Opens the list of sandboxes where the window is too narrow to show it. */
  listButton: ReactNode
  /** A place in one of the terminals that the person wants to see. */
  reveal: TerminalMatch | undefined
}

/** The tabs of a sandbox that has terminals, each with its panes. */
export function TerminalTabs({
  sandbox,
  visible,
  selectedId,
  terminals,
  layout,
  actions,
  sandboxMenu,
  sideButton,
  listButton,
  reveal,
  ...shared
}: TerminalTabsProps) {
  const ids = layout.flatMap(({ tree }) => listPaneIds(tree))
  const hosts = usePaneHosts(ids)
  const byId = new Map(terminals.map((terminal) => [terminal.session_id as string, terminal]))
  const labels = buildTabLabels(terminals)
  const getLabel = (id: string) => labels.get(id) ?? ''
  const running = sandbox.status === 'running'
  const endedTogether = terminals.filter((it) => it.state === 'exited' && it.ended_with_sandbox)
  const tab = findTab(layout, selectedId) ?? layout[0]
  const present = byId.get(
    tab && selectedId && listPaneIds(tab.tree).includes(selectedId) ? selectedId : (tab?.active ?? ''),
  )
  const visibleIds = visible && tab ? (tab.zoomed ? [tab.active] : listPaneIds(tab.tree)) : []
  const recentTabs = useRecent(visible ? tab?.id : undefined, maxMounted)
  const marks = useMarks({ sandboxId: sandbox.id, visibleIds, getLabel })
  useVisibleTerminals(visibleIds)
  const calling = new Set<string>(useTerminalCalls().map(({ terminalId }) => terminalId))
  const broadcast = useBroadcast(tab)
  const [renamingId, setRenamingId] = useState<string>()
  const sessions = useRef(new Map<string, TerminalSession>())

  const current = (stored: Layout) => reconcileLayout(stored, ids)
  const arrange = (change: (layout: Layout) => Layout) => actions.arrange((stored) => change(current(stored)))
  const select = (terminal: Terminal) => {
    arrange((before) => withActive(before, terminal.session_id))
    actions.select(terminal)
  }
  const selectId = (id: string | undefined) => {
    const terminal = byId.get(id ?? '')
    if (terminal) select(terminal)
  }
  const drag = useTabDrag({
    layout,
    arrange,
    onMoved(id) {
      selectId(id)
      actions.focus()
    },
  })
  const closing = useClosing({
    sessionOf: (id) => sessions.current.get(id),
    close: (leaving) => actions.close(leaving, layout),
  })
  const close = (ids: readonly string[]) => closing.close(ids.flatMap((id) => byId.get(id) ?? []))
  const closeTabs = (tabs: readonly TabLayout[]) => close(tabs.flatMap(({ tree }) => listPaneIds(tree)))
  const context: WorkbenchContext = {
    layout,
    tab,
    present,
    byId,
    getLabel,
    directoryBeside: (id) => ({
      cwdOf: byId.get(id)?.session_id,
      cwd: sessions.current.get(id)?.directory.now,
    }),
    running,
    broadcast,
    actions,
    current,
    arrange,
    close,
    closeTabs,
    show: selectId,
    rename: setRenamingId,
  }
  useCommands(visible ? [...createTabCommands(context), ...createPaneCommands(context)] : [])

  const renderBadge = (id: string) => {
    const terminal = byId.get(id)
    return terminal && <TabMark terminal={terminal} isUnread={marks.unread.has(id)} sandboxRuns={running} />
  }
  const tabFor = (it: TabLayout) => {
    const ids = listPaneIds(it.tree)
    const called = ids.find((id) => calling.has(id)) ?? ids.find((id) => marks.unread.has(id)) ?? it.active
    return {
      id: it.id,
      label: getLabel(it.active),
      title: ids.map((id) => byId.get(id)?.command).join('\n'),
      mark: renderBadge(it === tab ? it.active : called),
      ...(ids.length > 1 && {
        note: (
          <span className="rounded-small bg-selected px-1 text-tiny text-muted tabular-nums">
            {ids.length}
            <span className="sr-only"> terminals</span>
          </span>
        ),
      }),
    }
  }

  const renderPane = (it: TabLayout, id: string) => {
    const several = it.tree.kind === 'split'
    return (
      <PaneFrame
        key={id}
        label={getLabel(id)}
        mark={renderBadge(id)}
        host={hosts.of(id)}
        onDrop={drag.targetOf(id)}
        header={
          several
            ? {
                active: id === it.active,
                zoomed: it.zoomed,
                broadcast: broadcast.ids && { receives: broadcast.ids.has(id), onToggle: () => broadcast.toggle(id) },
                onZoom: () => arrange((before) => before.map((one) => (one.id === it.id ? zoomed(one, id) : one))),
                onClose: () => close([id]),
                onDragStart: (transfer) => drag.startPane(id, transfer),
                onDragEnd: drag.end,
                wrap: (element) => <ContextMenu items={createPaneMenu({ ...context, id })}>{element}</ContextMenu>,
              }
            : undefined
        }
      />
    )
  }

  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it only adds to the click on a tab, which is a button */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a tab is a click */}
      <div
        className="size-full"
        onClick={({ target }) =>
          target instanceof Element && target.closest('[data-tab] [role="tab"]') && actions.focus()
        }
      >
        <Tabs
          label={`Terminals in ${sandbox.name}`}
          tabs={layout.map(tabFor)}
          value={tab?.id ?? ''}
          onChange={(id) => selectId(layout.find((it) => it.id === id)?.active)}
          onClose={(id) => closeTabs(layout.filter((it) => it.id === id))}
          rename={{
            id: renamingId === undefined ? undefined : findTab(layout, renamingId)?.id,
            nameOf: () => getLabel(renamingId ?? ''),
            onBegin: (id) => setRenamingId(layout.find((it) => it.id === id)?.active),
            onDone(name) {
              const terminal = byId.get(renamingId ?? '')
              setRenamingId(undefined)
              if (terminal && name !== getLabel(terminal.session_id))
                actions.rename(terminal, name === '' ? null : name)
              actions.focus()
            },
            onCancel() {
              setRenamingId(undefined)
              actions.focus()
            },
          }}
          drag={drag.strip}
          head
          start={listButton}
          end={sideButton}
          wrap={({ id }, element) => (
            <ContextMenu items={createTabMenu({ ...context, tabId: id })}>{element}</ContextMenu>
          )}
          actions={
            <>
              <IconButton
                label="New terminal"
                icon={Plus}
                size="small"
                shortcut={newTerminalKeys}
                disabled={!running}
                onClick={() => actions.newTerminal()}
              />
              <Menu items={sandboxMenu} align="end">
                <IconButton label={`Actions for ${sandbox.name}`} icon={Ellipsis} size="small" />
              </Menu>
            </>
          }
        >
          {layout.map((it) => (
            <TabPanel key={it.id} id={it.id} keepMounted>
              {recentTabs.includes(it.id) && (
                <div className="flex size-full flex-col">
                  {it === tab && broadcast.ids && <BroadcastBar count={broadcast.ids.size} onEnd={broadcast.end} />}
                  <div className="min-h-0 flex-1">
                    <PaneArea
                      tree={it.tree}
                      zoomedId={it.zoomed && it.tree.kind === 'split' ? it.active : undefined}
                      onShares={(place, shares) =>
                        arrange((before) =>
                          before.map((one) =>
                            one.id === it.id ? { ...one, tree: withShares(one.tree, place, shares) } : one,
                          ),
                        )
                      }
                    >
                      {(id) => renderPane(it, id)}
                    </PaneArea>
                  </div>
                </div>
              )}
            </TabPanel>
          ))}
        </Tabs>
      </div>
      {terminals
        .filter(({ session_id }) => recentTabs.includes(findTab(layout, session_id)?.id ?? ''))
        .map((terminal) => {
          const id = terminal.session_id
          return createPortal(
            <div
              className="size-full"
              onFocusCapture={() => {
                if (present !== terminal && visibleIds.includes(id)) select(terminal)
              }}
            >
              <TerminalPanel
                {...shared}
                wantsFocus={shared.wantsFocus && terminal === present}
                terminal={terminal}
                label={`${getLabel(id)} in ${sandbox.name}`}
                visible={visibleIds.includes(id)}
                onTitle={(title) => actions.retitle(terminal, title)}
                onHiddenOutput={() => marks.add(id)}
                onAgain={
                  running
                    ? () => actions.again(terminal, (before, added) => withReplaced(current(before), id, added))
                    : undefined
                }
                onAllAgain={
                  running && terminal.ended_with_sandbox && endedTogether.length > 1
                    ? () =>
                        actions.allAgain(endedTogether, (before, old, added) =>
                          withReplaced(current(before), old, added),
                        )
                    : undefined
                }
                sandboxRuns={running}
                onClose={() => close([id])}
                reveal={reveal?.session_id === id ? reveal : undefined}
                onSession={(session) => {
                  if (session) sessions.current.set(id, session)
                  else sessions.current.delete(id)
                  broadcast.learn(id, session)
                }}
                onTyped={(text) => broadcast.typed(id, text)}
              />
            </div>,
            hosts.of(id),
            id,
          )
        })}
      {closing.asked && <CloseDialog programs={closing.asked.programs} getLabel={getLabel} onAnswer={closing.answer} />}
    </>
  )
}

function zoomed(tab: TabLayout, id: string): TabLayout {
  return { ...tab, active: id, zoomed: !tab.zoomed }
}
