import { ContextMenu } from '#renderer/ui/Menu.tsx'
import { withShares } from '../layout/paneTree.ts'
import type { TabLayout } from '../layout/tabLayout.ts'
import { BroadcastBar } from '../panes/BroadcastBar.tsx'
import { PaneArea } from '../panes/PaneArea.tsx'
import { PaneFrame, type PaneHeader } from '../panes/PaneFrame.tsx'
import { createPaneMenu } from '../panes/paneCommands.ts'
import { renderTabMark } from './TabMark.tsx'
import type { TerminalTabsState } from './useTerminalTabs.ts'

type TabPanesProps = { tabs: TerminalTabsState; tab: TabLayout }

export function TabPanes({ tabs, tab }: TabPanesProps) {
  const { broadcast, arrange } = tabs
  return (
    <div className="flex size-full flex-col">
      {tab === tabs.tab && broadcast.ids && <BroadcastBar count={broadcast.ids.size} onEnd={broadcast.end} />}
      <div className="min-h-0 flex-1">
        <PaneArea
          tree={tab.tree}
          zoomedId={tab.zoomed && tab.tree.kind === 'split' ? tab.active : undefined}
          onShares={(place, shares) =>
            arrange((before) =>
              before.map((item) =>
                item.id === tab.id ? { ...item, tree: withShares(item.tree, place, shares) } : item,
              ),
            )
          }
        >
          {(id) => (
            <PaneFrame
              key={id}
              label={tabs.getLabel(id)}
              mark={renderTabMark(tabs, id)}
              host={tabs.hosts.of(id)}
              onDrop={tabs.drag.targetOf(id)}
              header={tab.tree.kind === 'split' ? createPaneHeader(tabs, tab, id) : undefined}
            />
          )}
        </PaneArea>
      </div>
    </div>
  )
}

function createPaneHeader(tabs: TerminalTabsState, tab: TabLayout, id: string): PaneHeader {
  const { broadcast, drag, arrange } = tabs
  return {
    active: id === tab.active,
    zoomed: tab.zoomed,
    broadcast: broadcast.ids && { receives: broadcast.ids.has(id), onToggle: () => broadcast.toggle(id) },
    onZoom: () => arrange((before) => before.map((item) => (item.id === tab.id ? toggleZoom(item, id) : item))),
    onClose: () => tabs.close([id]),
    onDragStart: (transfer) => drag.startPane(id, transfer),
    onDragEnd: drag.end,
    wrap: (element) => <ContextMenu items={createPaneMenu({ ...tabs, id })}>{element}</ContextMenu>,
  }
}

function toggleZoom(tab: TabLayout, id: string): TabLayout {
  return { ...tab, active: id, zoomed: !tab.zoomed }
}
