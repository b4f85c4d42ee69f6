import { Ellipsis, Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { useAttentionRequests } from '#renderer/api/terminals/attentionRequests.ts'
import type { TerminalList } from '#renderer/api/terminals/terminalList.ts'
import { useCommands } from '#renderer/ui/commands/commandRegistry.tsx'
import { newTerminalKeys } from '#renderer/ui/commands/terminalSafeKeys.ts'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { ContextMenu, Menu, type MenuItem } from '#renderer/ui/Menu.tsx'
import { TabPanel, Tabs } from '#renderer/ui/Tabs.tsx'
import type { Tab, TabRename } from '#renderer/ui/tab.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import type { TerminalMatch } from '#shared/contract/terminalSearch.ts'
import { CloseDialog } from '../closing/CloseDialog.tsx'
import { listPaneIds } from '../layout/paneTree.ts'
import { findTab, type Layout, type TabLayout } from '../layout/tabLayout.ts'
import { createPaneCommands } from '../panes/paneCommands.ts'
import type { TerminalSize } from '../stream/terminalScreen.ts'
import type { SandboxLinks } from '../view/links/terminalLinks.ts'
import type { WebglLeases } from '../view/webglLeases.ts'
import { MountedTerminals } from './MountedTerminals.tsx'
import { renderTabMark } from './TabMark.tsx'
import { TabPanes } from './TabPanes.tsx'
import { createTabCommands, createTabMenu } from './tabCommands.ts'
import { type TerminalTabsState, useTerminalTabs } from './useTerminalTabs.ts'
import type { WorkbenchActions } from './workbenchActions.ts'

export type TerminalTabsProps = {
  sandbox: Sandbox
  visible: boolean
  selectedId: string | undefined
  terminals: TerminalList
  /** Stored layout, which may contain removed terminals and lack new ones. */
  layout: Layout
  webgl: WebglLeases
  /** Opens links in the output that refer to the sandbox. */
  inside: SandboxLinks
  wantsFocus: boolean
  onFocused: () => void
  onRoom: (size: TerminalSize) => void
  actions: WorkbenchActions
  sandboxMenu: MenuItem[]
  sideButton: ReactNode
  /** Button that opens the list of sandboxes if the window is too narrow to show it. */
  listButton: ReactNode
  reveal: TerminalMatch | undefined
}

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
  ...panel
}: TerminalTabsProps) {
  const tabs = useTerminalTabs({ sandbox, visible, selectedId, terminals, layout, actions })
  const { closing, getLabel } = tabs
  useCommands(visible ? [...createTabCommands(tabs), ...createPaneCommands(tabs)] : [])
  return (
    <>
      <TabArea {...{ tabs, sandbox, sandboxMenu, sideButton, listButton }} />
      <MountedTerminals tabs={tabs} sandbox={sandbox} terminals={terminals} {...panel} />
      {closing.request && (
        <CloseDialog programs={closing.request.programs} getLabel={getLabel} onAnswer={closing.answer} />
      )}
    </>
  )
}

type TabAreaProps = Pick<TerminalTabsProps, 'sandbox' | 'sandboxMenu' | 'sideButton' | 'listButton'> & {
  tabs: TerminalTabsState
}

function TabArea({ tabs, sandbox, sandboxMenu, sideButton, listButton }: TabAreaProps) {
  const { layout, tab, actions, running } = tabs
  const calling = new Set<string>(useAttentionRequests().map(({ terminalId }) => terminalId))
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the tab inside is a button
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a tab triggers a click
    <div
      className="size-full"
      onClick={({ target }) =>
        target instanceof Element && target.closest('[data-tab] [role="tab"]') && actions.focus()
      }
    >
      <Tabs
        label={`Terminals in ${sandbox.name}`}
        tabs={layout.map((it) => describeTab(tabs, it, calling))}
        value={tab?.id ?? ''}
        onChange={(id) => tabs.show(layout.find((it) => it.id === id)?.active)}
        onClose={(id) => tabs.closeTabs(layout.filter((it) => it.id === id))}
        rename={createTabRename(tabs)}
        drag={tabs.drag.strip}
        head
        start={listButton}
        end={sideButton}
        wrap={({ id }, element) => <ContextMenu items={createTabMenu({ ...tabs, tabId: id })}>{element}</ContextMenu>}
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
        {layout.map((item) => (
          <TabPanel key={item.id} id={item.id} keepMounted>
            {tabs.mountedTabIds.includes(item.id) && <TabPanes tabs={tabs} tab={item} />}
          </TabPanel>
        ))}
      </Tabs>
    </div>
  )
}

/** @param calling terminals whose program requests attention */
function describeTab(tabs: TerminalTabsState, tab: TabLayout, calling: ReadonlySet<string>): Tab {
  const { marks, byId, getLabel } = tabs
  const ids = listPaneIds(tab.tree)
  const called = ids.find((id) => calling.has(id)) ?? ids.find((id) => marks.unread.has(id)) ?? tab.active
  return {
    id: tab.id,
    label: getLabel(tab.active),
    title: ids.map((id) => byId.get(id)?.command).join('\n'),
    mark: renderTabMark(tabs, tab === tabs.tab ? tab.active : called),
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

function createTabRename(tabs: TerminalTabsState): TabRename {
  const { layout, renamingId, setRenamingId, byId, getLabel, actions } = tabs
  return {
    id: renamingId === undefined ? undefined : findTab(layout, renamingId)?.id,
    nameOf: () => getLabel(renamingId ?? ''),
    onBegin: (id) => setRenamingId(layout.find((it) => it.id === id)?.active),
    onDone(name) {
      const terminal = byId.get(renamingId ?? '')
      setRenamingId(undefined)
      if (terminal && name !== getLabel(terminal.session_id)) actions.rename(terminal, name === '' ? null : name)
      actions.focus()
    },
    onCancel() {
      setRenamingId(undefined)
      actions.focus()
    },
  }
}
